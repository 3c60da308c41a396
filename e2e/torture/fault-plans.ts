import type { Strike } from './crash-points.ts'
import type { Fault, Point } from './tracing.ts'

const KILL: Fault = { kind: 'kill' }
const EIO: Fault = { kind: 'error', error: 'EIO', times: 1 }
/** A disk that is full for a group of writes and for what is tried after it. */
const ENOSPC: Fault = { kind: 'error', error: 'ENOSPC', times: 4 }

const at = (points: readonly Point[], fault: Fault): readonly Strike[] => points.map((point) => ({ ...point, fault }))
const flushesOf = (points: readonly Point[]) => points.filter(({ call }) => call === 'fsync' || call === 'fdatasync')
const writesOf = (points: readonly Point[]) => points.filter(({ call }) => call === 'pwrite64')

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
    const flushes = spread(flushesOf(calls), Math.ceil(count / 2), random)
    return at([...flushes, ...spread(calls, Math.floor(count / 2), random)], KILL)
  }

/** A death at every call, or at those of one shard (`K/N`: every N-th call from the K-th on). */
export const everyDeath =
  (shard = '1/1'): Choose =>
  (calls) => {
    const [first = 1, step = 1] = shard.split('/').map(Number)
    return at(
      calls.filter((_, index) => index % step === first - 1),
      KILL,
    )
  }

/** Flushes and writes that fail, and a disk that is full for a while. */
export const someFaults =
  (flushes: number, writes: number): Choose =>
  (calls, random) => [
    ...at(spread(flushesOf(calls), flushes, random), EIO),
    ...at(spread(writesOf(calls), writes, random), EIO),
    ...at(spread(writesOf(calls), writes, random), ENOSPC),
  ]

/** EIO at every flush. */
export const everyFlushFails: Choose = (calls) => at(flushesOf(calls), EIO)
