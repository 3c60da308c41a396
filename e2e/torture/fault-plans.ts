import type { PlannedFault } from './crash-points.ts'
import type { Fault, Point } from './tracing.ts'

const KILL: Fault = { kind: 'kill' }
const EIO: Fault = { kind: 'error', error: 'EIO', times: 1 }
/** A disk that is full for a group of writes and their retries. */
const ENOSPC: Fault = { kind: 'error', error: 'ENOSPC', times: 4 }

const at = (points: readonly Point[], fault: Fault): readonly PlannedFault[] =>
  points.map((point) => ({ ...point, fault }))
const flushesOf = (points: readonly Point[]) => points.filter(({ call }) => call === 'fsync' || call === 'fdatasync')
const writesOf = (points: readonly Point[]) => points.filter(({ call }) => call === 'pwrite64')

/** Picks one random point from each of `count` equal parts of the list. */
function spread<T>(all: readonly T[], count: number, random: () => number): readonly T[] {
  const part = all.length / count
  return Array.from({ length: Math.min(count, all.length) }, (_, n) => all[Math.floor((n + random()) * part)] as T)
}

type Choose = (calls: readonly Point[], random: () => number) => readonly PlannedFault[]

/** Kills: half of them around flushes, where a commit becomes durable, the rest anywhere. */
export const someKills =
  (count: number): Choose =>
  (calls, random) => {
    const flushes = spread(flushesOf(calls), Math.ceil(count / 2), random)
    return at([...flushes, ...spread(calls, Math.floor(count / 2), random)], KILL)
  }

/** A kill at every call, or at those of one shard (`K/N`: every N-th call from the K-th on). */
export const killAtEveryCall =
  (shard = '1/1'): Choose =>
  (calls) => {
    const [first = 1, step = 1] = shard.split('/').map(Number)
    return at(
      calls.filter((_, index) => index % step === first - 1),
      KILL,
    )
  }

/** Failing flushes and writes, and a disk that is full for a while. */
export const someFaults =
  (flushes: number, writes: number): Choose =>
  (calls, random) => [
    ...at(spread(flushesOf(calls), flushes, random), EIO),
    ...at(spread(writesOf(calls), writes, random), EIO),
    ...at(spread(writesOf(calls), writes, random), ENOSPC),
  ]

/** EIO at every flush. */
export const failEveryFlush: Choose = (calls) => at(flushesOf(calls), EIO)
