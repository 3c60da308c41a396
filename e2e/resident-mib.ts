import { readFileSync } from 'node:fs'

/** The resident memory of a process, in MiB. */
export const residentMiB = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
