import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { cliError } from '../cli-error.ts'
import { isAlive } from '../is-alive.ts'

/**
 * Claims a results file for this process. A claim of a process that has died, also by `kill -9`, does not count.
 *
 * @returns releases the claim
 * @throws CliError `conflict` while another process runs evals that write the same file
 */
export function lockResults(path: string): () => void {
  const lock = `${path}.lock`
  for (;;) {
    if (tryWrite(lock)) return () => rmSync(lock, { force: true })
    const pid = readPid(lock)
    if (pid !== undefined && isAlive(pid)) {
      throw cliError('eval-running', {
        message: `the process ${pid} runs evals that write ${path}`,
        hint: `wait until it ends, pass another file with --out, or delete ${lock} if ${pid} is another program`,
        exit: 'conflict',
      })
    }
    rmSync(lock, { force: true })
  }
}

function tryWrite(lock: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** `undefined` for a claim that has been released in the meantime, or was not written whole. */
function readPid(lock: string): number | undefined {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
