import type { Strike } from './crash-points.ts'
import type { Fault, Point } from './tracing.ts'

const KILL: Fault = { kind: 'kill' }
const EIO: Fault = { kind: 'error', error: 'EIO', times: 1 }
/** As long as a full disk that fails a whole group of writes, and the next. */
const ENOSPC: Fault = { kind: 'error', error: 'ENOSPC', times: 40 }

const at = (points: readonly Point[], fault: Fault): readonly Strike[] => points.map((point) => ({ ...point, fault }))
const named = (points: readonly Point[], name: string) => points.filter(({ call }) => call === name)

/** One point out of each of `count` equal parts of the list. */
function spread<T>(all: readonly T[], count: number, random: () => number): readonly T[] {
  const part = all.length / count
  return Array.from({ length: Math.min(count, all.length) }, (_, n) => all[Math.floor((n + random()) * part)] as T)
}

type Choose = (calls: readonly Point[], random: () => number) => readonly Strike[]

/** Deaths: half of them around flushes, where a commit becomes durable, the rest anywhere. */
export const someDeaths =
  (count: number): Choose =>
  (calls, random) => {
    const flushes = spread(named(calls, 'fdatasync'), Math.ceil(count / 2), random)
    return at([...flushes, ...spread(calls, Math.floor(count / 2), random)], KILL)
  }

export const everyDeath: Choose = (calls) => at(calls, KILL)

/** Flushes and writes that fail, and a disk that is full for a while. */
export const someFaults =
  (flushes: number, writes: number): Choose =>
  (calls, random) => [
    ...at(spread(named(calls, 'fdatasync'), flushes, random), EIO),
    ...at(spread(named(calls, 'pwrite64'), writes, random), EIO),
    ...at(spread(named(calls, 'pwrite64'), writes, random), ENOSPC),
  ]

/** EIO at every flush. */
export const everyFlushFails: Choose = (calls) => at(named(calls, 'fdatasync'), EIO)
