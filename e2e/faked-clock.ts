import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox } from './perdure-process.ts'

/**
 * Processes get another wall clock from a module that Node.js loads before the program, so only what JavaScript reads is
 * moved: `Date`. `faked-clock.test.ts` checks that the product reads no other wall clock.
 */
const MODULE = join(import.meta.dirname, 'fixtures/faked-clock.cjs')

const preloading = ({ NODE_OPTIONS = '', ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  NODE_OPTIONS: `${NODE_OPTIONS} --require ${JSON.stringify(MODULE)}`.trimStart(),
})

/** Moves the wall clock of a process; the monotonic clock stays real. */
export const clockAhead = ({ dir, env }: Sandbox, ms: number): Sandbox => ({
  dir,
  env: { ...preloading(env), E2E_CLOCK_AHEAD: String(ms) },
})

/** Sets the wall clock of a process to this instant in UTC, from which it runs on; the monotonic clock stays real. */
export const clockAt = (sandbox: Sandbox, instant: string): Sandbox =>
  clockAhead(sandbox, Date.parse(`${instant}Z`) - Date.now())

/** A wall clock that can be moved while a process runs; the monotonic clock stays real. */
export function createMovableClock() {
  const file = join(mkdtempSync(join(tmpdir(), 'perdure-clock-')), 'ahead')
  let ahead = 0
  // The file is replaced, because a process may read it at any moment.
  const move = (ms: number) => {
    ahead += ms
    writeFileSync(`${file}.new`, String(ahead))
    renameSync(`${file}.new`, file)
  }
  move(0)
  return {
    env: { ...preloading({ NODE_OPTIONS: process.env.NODE_OPTIONS }), E2E_CLOCK_FILE: file },
    move,
    isMoved: () => ahead !== 0,
  }
}
