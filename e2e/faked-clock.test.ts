import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clockAt, createMovableClock } from './faked-clock.ts'

const HOUR_MS = 3_600_000
const root = join(import.meta.dirname, '..')

/** Prints what each way to read the wall clock returns, in the process, in a thread and in a child process. */
const READS = `
const { Worker } = require('node:worker_threads')
const { execFileSync } = require('node:child_process')
const read = '[Date.now(), new Date().getTime(), Date.parse(Date()), +Reflect.construct(Date, [])]'
const isDate = [new Date() instanceof Date, new Date(0).getTime() === 0, new Date().constructor === Date, structuredClone(new Date()) instanceof Date]
const child = JSON.parse(execFileSync(process.execPath, ['-p', \`JSON.stringify(\${read})\`], { encoding: 'utf8' }))
new Worker(\`require('node:worker_threads').parentPort.postMessage(\${read})\`, { eval: true }).on('message', (thread) =>
  console.log(JSON.stringify({ isDate, read: [...eval(read), ...thread, ...child] })),
)`

const runWith = (env: NodeJS.ProcessEnv) => {
  const output = execFileSync(process.execPath, ['-e', READS], { env: { ...process.env, ...env }, encoding: 'utf8' })
  return JSON.parse(output) as { readonly isDate: readonly boolean[]; readonly read: readonly number[] }
}

describe('a process with another clock', () => {
  it('reads the instant everywhere: in its threads and child processes too', () => {
    const { isDate, read } = runWith(clockAt({ dir: '', env: {} }, '2031-05-06T07:08:09').env)

    const instant = Date.UTC(2031, 4, 6, 7, 8, 9)
    expect(isDate).toEqual([true, true, true, true])
    expect(read).toHaveLength(12)
    for (const one of read) {
      // `Date()` has no milliseconds.
      expect(one).toBeGreaterThanOrEqual(instant - 1_000)
      expect(one).toBeLessThan(instant + 60_000)
    }
  })

  it('reads the clock again after it was moved', () => {
    const clock = createMovableClock()
    const script = `const { writeFileSync } = require('node:fs')
      const before = Date.now()
      writeFileSync(process.env.E2E_CLOCK_FILE, '${-HOUR_MS}')
      console.log(Date.now() - before)`
    clock.move(2 * HOUR_MS)

    const moved = Number(execFileSync(process.execPath, ['-e', script], { env: { ...process.env, ...clock.env } }))

    expect(moved).toBeLessThanOrEqual(-3 * HOUR_MS + 60_000)
    expect(moved).toBeGreaterThanOrEqual(-3 * HOUR_MS)
  })
})

describe('the product', () => {
  it('reads no wall clock but Date, which the faked clock moves', () => {
    const other =
      /performance\.timeOrigin|CURRENT_TIME|CURRENT_DATE|strftime|unixepoch|julianday|datetime\(|Temporal\.Now/i
    const sources = globSync('{packages,apps}/*/src/**/*.ts', { cwd: root })
    expect(sources.length).toBeGreaterThan(500)

    expect(sources.filter((path) => other.test(readFileSync(join(root, path), 'utf8')))).toEqual([])
  })
})
