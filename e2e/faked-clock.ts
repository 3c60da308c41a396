import { globSync } from 'node:fs'
import type { Sandbox } from './perdure-process.ts'

/** Gives a process its own wall clock in UTC; the monotonic clock stays real. */
export function clockAt(sandbox: Sandbox, instant: string): Sandbox {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
  if (library === undefined) throw new Error('libfaketime is missing: apt-get install libfaketime')
  const env = {
    ...sandbox.env,
    LD_PRELOAD: library,
    TZ: 'UTC',
    FAKETIME: `@${instant.replace('T', ' ')}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_NO_CACHE: '1',
  }
  return { ...sandbox, env }
}
