import { type Cluster, type Duty, isLeaseLost, leaseLost, MAX_CLOCK_SKEW_MS, type Refusal } from '@perdure/ports'
import type { Connection } from '../connection/connection.ts'
import { type Node, skewOf } from '../host/node.ts'
import {
  DISMISS,
  LIST_DEPARTED,
  MARK_DRAINING,
  REAP,
  RELEASE_DUTIES,
  RENEW_LEASE,
  TAKE_DUTIES,
} from './member-statements.ts'
import { claimRuns, firstInLine, releaseClaims } from './queued-runs.ts'

export interface MembershipOptions {
  readonly node: Node
  /** For everything but the lease, so that a slow statement cannot cost the lease. */
  readonly db: Connection
  readonly leaseMs: number
  /** Called once, when another member has removed this node. */
  readonly onWarning?: ((text: string) => void) | undefined
  /** The clock of this machine. */
  readonly now: () => number
  readonly onLeaseLost: (error: Refusal) => void
  /** A test can hold up the renewal of the lease. */
  readonly beforeBeat?: (() => Promise<void>) | undefined
}

export interface Membership extends Cluster {
  readonly executor: string
  /** Milliseconds until others may take over; 0 if they may. */
  leaseLeftMs(): number
  /** Sets the function that is called once when somebody has asked this process to drain. */
  onDrainRequested(callback: () => void): void
  /** Stops renewing the lease, and releases every duty. */
  stop(): Promise<void>
}

const BEATS_PER_LEASE = 6
const LONGEST_BEAT_MS = 1_000

/**
 * Keeps the node a member of its cluster: renews its lease on the clock of the database, takes the duties of departed
 * members, and removes members whose lease has expired.
 */
export async function createMembership(options: MembershipOptions): Promise<Membership> {
  const { node, db, leaseMs, onLeaseLost, onWarning, now, beforeBeat } = options
  const monotonicMs = () => performance.now()
  const self = { id: node.id }
  const beatMs = Math.min(LONGEST_BEAT_MS, leaseMs / BEATS_PER_LEASE)
  let lastBeatMs = monotonicMs()
  /** Since when the lease has been valid without a break. */
  let unbrokenSinceMs = lastBeatMs
  let duties: ReadonlySet<Duty> = new Set()
  let state: 'member' | 'retired' | 'stopped' = 'member'
  let clockSkewMs = 0
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | undefined

  /** Called once. A callback that is set later is called at once. */
  let isDrainRequested = false
  let onDrainRequested: (() => void) | undefined

  const requestDrain = () => {
    if (isDrainRequested) return
    isDrainRequested = true
    onDrainRequested?.()
  }

  const leaseLeftMs = () => Math.max(0, leaseMs - (monotonicMs() - lastBeatMs))
  const hasLease = () => monotonicMs() - lastBeatMs < leaseMs

  const renewLease = async () => {
    const sentAtMs = monotonicMs()
    await within(leaseMs / 2, async () => {
      await beforeBeat?.()
      await node.renew()
      const sentAt = now()
      const row = await node.control().get(RENEW_LEASE, { ...self, leaseMs })
      if (row === undefined) throw leaseLost()
      compareClocks(skewOf({ sentAt, receivedAt: now(), serverAt: row.now }))
      if (row.drain_requested) requestDrain()
    })
    if (sentAtMs - lastBeatMs >= leaseMs) unbrokenSinceMs = sentAtMs
    lastBeatMs = sentAtMs
  }

  const hasRightClock = () => Math.abs(clockSkewMs) <= MAX_CLOCK_SKEW_MS

  /** Another member takes over what a member does by its clock. */
  const compareClocks = (skewMs: number) => {
    const wasRight = hasRightClock()
    clockSkewMs = skewMs
    if (wasRight === hasRightClock()) return
    onWarning?.(
      hasRightClock() ? 'the clock of this machine agrees with the database server again' : wrongClock(skewMs),
    )
  }

  const takeDuties = async () => {
    if (state !== 'member') return
    if (!hasRightClock()) {
      duties = new Set()
      await db.run(RELEASE_DUTIES, self)
      return void (await releaseClaims(db, node.id))
    }
    const held = await db.all(TAKE_DUTIES, self)
    if (state === 'member') duties = new Set(held.map(({ name }) => name))
  }

  /** After an outage of the database, every lease has expired, and no member may be removed for that. */
  const reap = async () => {
    if (monotonicMs() - unbrokenSinceMs >= leaseMs) await db.run(REAP, self)
  }

  const beat = async () => {
    try {
      await renewLease()
    } catch (error) {
      if (isGivenUp(error)) return giveUp(error)
      // The connection may be silent: the next beat uses another one.
      await node.drop().catch(() => undefined)
      return
    }
    for (const work of [reap, takeDuties]) await work().catch(() => undefined)
  }

  const giveUp = (error: Refusal) => {
    state = 'stopped'
    lastBeatMs = Number.NEGATIVE_INFINITY
    onLeaseLost(error)
  }

  const tick = () => {
    working = beat().finally(() => {
      if (state !== 'stopped') timer = setTimeout(tick, beatMs)
    })
  }

  const retire = async () => {
    state = 'retired'
    duties = new Set()
    await db.run(MARK_DRAINING, self)
    await db.run(RELEASE_DUTIES, self)
    await releaseClaims(db, node.id)
  }

  await takeDuties()
  timer = setTimeout(tick, beatMs)

  return {
    executor: node.id,
    leaseLeftMs,
    onDrainRequested(callback) {
      onDrainRequested = callback
      if (isDrainRequested) callback()
    },
    isMine: (duty) => duties.has(duty) && hasLease() && hasRightClock(),
    hasLease,
    clockSkewMs: () => clockSkewMs,
    claim: async (query) =>
      state === 'member' && hasLease() && hasRightClock() ? claimRuns(db, { ...query, node: node.id }) : [],
    firstInLine: (line) => firstInLine(db, line),
    async departed() {
      const rows = await db.all(LIST_DEPARTED, {})
      return rows.map(({ id, departed_ms }) => ({ executor: id, departedMs: departed_ms }))
    },
    async dismiss(executor) {
      await db.run(DISMISS, { id: executor })
    },
    retire,
    async stop() {
      const isGone = state === 'stopped'
      state = 'stopped'
      clearTimeout(timer)
      await working
      clearTimeout(timer)
      if (!isGone) await retire().catch(() => undefined)
    },
  }
}

const wrongClock = (skewMs: number): string =>
  `the clock of this machine is ${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of the database server; until they agree, this server is not ready, and other servers do its background work`

const isGivenUp = (error: unknown): error is Refusal => error instanceof Error && isLeaseLost(error)

/** Rejects if the work takes longer: a connection can fall silent without an error. */
async function within(ms: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the lease was not renewed in time')), ms)
  })
  const done = work()
  done.catch(() => undefined)
  try {
    await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}
