import type { Clock, LockoutRecord, LockoutStore, Logger, Timers } from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { createSupervisedLoop } from '../lifecycle/supervised-loop.ts'
import { afterFailure, createLockout, type Lockout, type LockoutOptions, NO_FAILURES } from './lockout.ts'

export interface SharedLockoutDeps {
  readonly store: LockoutStore
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

/** A lockout that counts the failures of all processes, and the loop that exchanges them. */
export interface SharedLockout {
  readonly lockout: Lockout
  readonly daemon: Daemon
}

const ROUND_MS = 250
/** Without failed attempts for a while, locks are read less often. The next failed attempt reads them at once. */
const IDLE_AFTER_MS = 10_000
const IDLE_ROUND_MS = 2_000
const PRUNE_EVERY_MS = 60_000
const MAX_ADDRESSES_PER_ROUND = 500
const MAX_LOCKS_PER_ROUND = 1_000

/**
 * Each process counts its own failures at once. Every 250 ms it adds them to the store and reads the locks of all
 * processes, so a lock holds everywhere after 250 ms at the latest. A process without failed attempts reads them when
 * the next one arrives, and every two seconds.
 */
export function createSharedLockout(deps: SharedLockoutDeps, options: LockoutOptions): SharedLockout {
  const { store, clock } = deps
  const failures = new Map<string, readonly number[]>()
  const own = createLockout(clock.now, options, (address, at) => {
    noteUse()
    if (failures.size < options.maxAddresses) failures.set(address, [...(failures.get(address) ?? []), at])
  })
  let usedAtMs = Number.NEGATIVE_INFINITY
  const isIdle = () => clock.monotonicMs() - usedAtMs > IDLE_AFTER_MS
  const noteUse = () => {
    const wasIdle = isIdle()
    usedAtMs = clock.monotonicMs()
    if (wasIdle) daemon.wake()
  }
  const lockout: Lockout = {
    ...own,
    lockedForMs(address) {
      noteUse()
      return own.lockedForMs(address)
    },
  }
  let prunedAt = clock.now() as number

  const share = async () => {
    const batch = [...failures.entries()].slice(0, MAX_ADDRESSES_PER_ROUND)
    if (batch.length === 0) return
    const known = new Map((await store.find(batch.map(([address]) => address))).map((one) => [one.address, one]))
    const records = batch.map(([address, times]) => recordAfter(options, { address, times }, known.get(address)))
    const refused = new Set(await store.put(records))
    for (const [index, [address, times]] of batch.entries()) {
      const record = records[index]
      if (refused.has(address) || record === undefined) continue
      const later = failures.get(address)?.slice(times.length) ?? []
      if (later.length === 0) failures.delete(address)
      else failures.set(address, later)
      if (later.length === 0) lockout.adopt(address, record)
    }
  }

  const adoptLocks = async () => {
    for (const record of await store.locked(clock.now(), MAX_LOCKS_PER_ROUND)) lockout.adopt(record.address, record)
  }

  const prune = async () => {
    if (clock.now() - prunedAt < PRUNE_EVERY_MS) return
    prunedAt = clock.now()
    await store.prune(prunedAt - options.resetAfterMs, MAX_LOCKS_PER_ROUND)
  }

  const daemon = createSupervisedLoop(deps, {
    name: 'lockout',
    async work() {
      await share()
      await adoptLocks()
      await prune()
      return isIdle() ? IDLE_ROUND_MS : ROUND_MS
    },
  })
  return { lockout, daemon }
}

function recordAfter(
  options: LockoutOptions,
  { address, times }: { readonly address: string; readonly times: readonly number[] },
  known: LockoutRecord | undefined,
): LockoutRecord {
  const history = times.reduce((before, at) => afterFailure(options, before, at), known ?? NO_FAILURES)
  return { address, ...history, version: (known?.version ?? 0) + 1 }
}
