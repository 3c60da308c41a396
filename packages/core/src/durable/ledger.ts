import {
  createPauses,
  type PageStart,
  type StepKind,
  type StepRecord,
  type Timers,
  type YieldTurn,
} from '@perdure/ports'
import type { Divergence } from '../runs/parked.ts'
import { type Claim, callName, createCallOrder } from './call-order.ts'
import { createDeliveries } from './deliveries.ts'
import { createRecordedOutcomes } from './recorded-outcomes.ts'

/**
 * The durable calls of one execution of a run: numbers every call, delivers outcomes in the order in which they were
 * recorded, and detects when the run cannot continue without something from outside.
 *
 * ```text
 *   claim ──► numbered ──► executes (busy) ──► deliver ──► delivered to the code
 *     │          ├───────► recorded outcome ──► replay ───────▲
 *     │          └───────► waits (wait) ──► resolved outside ─┘ found by refresh
 *     └─► early: another call is recorded next
 *
 *   blocked  = some call waits or is early, none executes, nothing is left to deliver
 *   blocked for two turns of the event loop: an early call → the code diverged, else → whenBlocked resolves
 * ```
 */
export interface Ledger {
  /**
   * Takes the next sequence number. In a re-execution, the number goes to the call that is recorded under it: a call
   * made too early waits, and a call that is not recorded never gets a number: the code has diverged.
   */
  claim(kind: StepKind, name: string): Promise<Claim>
  /** Resolves with a recorded outcome, after the outcomes that were recorded before it. */
  replay(recorded: StepRecord): Promise<StepRecord>
  /** Delivers an outcome of this execution, after the outcomes that were recorded before it. */
  deliver(step: StepRecord): Promise<StepRecord>
  /** Keeps the run from counting as blocked until `work` has settled. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /**
   * Resolves once the wait is over. Stays pending when the run is suspended first.
   *
   * @param before the record of a call that had ended and waits again
   */
  wait(seq: number, before?: Pick<StepRecord, 'endOrder'>): Promise<StepRecord>
  /** Resolves once the wait is over: with a `started` call if it has to be executed again. */
  waitForRetry(seq: number): Promise<StepRecord>
  /** Reads which waits were resolved from outside. */
  refresh(): Promise<void>
  /** Resolves whenever the run is blocked, with the sequence numbers of the waiting calls. */
  whenBlocked(): Promise<readonly number[]>
  /** Whether the run is still blocked at exactly these calls. */
  isBlockedAt(seqs: readonly number[]): boolean
  /**
   * Resolves after as many microtasks as a recorded write would take; used to skip an `emit` that is already in the
   * log.
   */
  yieldTurn(): Promise<void>
  /** Delivers no outcome before this write of the code has settled: a replay resolves it before the next outcome too. */
  holdFor(write: Promise<unknown>): void
  /** Whether recorded calls remain. Events that the code emits until then are already in the log. */
  isReplaying(): boolean
  /** Whether the next call that the code has to make again is this one. */
  isNextRecorded(kind: StepKind, name: string): boolean
  /** The number of the next call of this execution. */
  nextSeq(): number
  /** The highest number in use, by this execution or by an earlier execution. */
  lastSeq(): number
  /** The calls that wait, those that the code has not made yet included. */
  openWaits(): readonly number[]
  /** Kind and name of every call of this execution whose outcome the code has not received. */
  openCalls(): readonly string[]
  /** Calls up to this number belong to an earlier part of the run and are not repeated. */
  readonly throughSeq: number
  /** The version of this name that the run has recorded, in an earlier part of the run too. */
  recordedVersion(name: string): StepRecord | undefined
  /** Notes that `ctx.version` returned `min` without a record, because the run had already passed this call. */
  passVersion(name: string): void
  /** The names of these versions, including those from before a suspension. */
  passedVersions(): readonly string[]
  /** Reports that the code does not support a recorded call, as soon as no other call executes. Stays pending. */
  diverge(divergence: Divergence): Promise<never>
  /**
   * Call it when the code has ended. Waits for calls that the code did not await, while recorded calls remain.
   *
   * @returns the divergence when the code has not made every recorded call
   */
  finish(): Promise<Divergence | undefined>
}

export interface LedgerParts {
  readonly recorded: readonly StepRecord[]
  /** Calls up to this number belong to an earlier part of the run and are not repeated. */
  readonly throughSeq: number
  /** `passedVersions()` from before the suspension. */
  readonly passedVersions: readonly string[] | undefined
  readonly timers: Timers
  /** Lets other work of the process have its turn of the event loop during a long replay. */
  readonly nextTurn: YieldTurn
  /** Reads calls of the run that ended after this `endOrder`, in that order and without results. */
  readonly readEnded: (after: number) => Promise<PageStart<StepRecord>>
  /** Reads one call of the run. */
  readonly find: (seq: number) => Promise<StepRecord | undefined>
  /** Reads the result of a call whose result is in a file. */
  readonly readResult: (step: StepRecord) => Promise<StepRecord>
  /**
   * Called when the code no longer makes the recorded calls, and no call executes. From then on, no call gets a number.
   */
  readonly onDiverged: (divergence: Divergence) => void
}

/** Turns of the event loop for which a run has to stay blocked: code between two calls may need one turn. */
const BLOCKED_TURNS = 2

export function createLedger(parts: LedgerParts): Ledger {
  const { recorded: all, throughSeq, timers, nextTurn, readEnded, find, readResult, onDiverged } = parts
  let passedVersions = parts.passedVersions ?? []
  const recorded = all.filter(({ seq }) => seq > throughSeq)
  const order = createCallOrder(recorded, throughSeq)
  const deliveries = createDeliveries(recorded, { nextTurn, readResult, onIdle: () => checkBlocked() })
  const waiting = new Set<number>()
  /** The waiting calls that are executed again after a decision. */
  const asking = new Set<number>()
  const open = new Map<number, string>() // by sequence number
  let mismatch: Divergence | undefined
  let isOver = false
  const onQuiet: (() => void)[] = []
  let onBlocked: ((seqs: readonly number[]) => void) | undefined
  let working = 0
  let cancelCheck = () => {}

  const isBlocked = () =>
    waiting.size + order.pending().length + (mismatch === undefined ? 0 : 1) > 0 && working === 0 && deliveries.isIdle()

  const checkBlocked = (turnsLeft = BLOCKED_TURNS) => {
    cancelCheck()
    if (!isBlocked()) return
    cancelCheck = timers.after(0, () => {
      if (!isBlocked()) return
      const divergence = mismatch ?? earlyCall()
      if (turnsLeft > 1) checkBlocked(turnsLeft - 1)
      else if (divergence === undefined) onBlocked?.([...waiting])
      else if (!isOver) {
        isOver = true
        onDiverged(divergence)
      }
    })
  }

  const isWanted = (seq: number) => {
    if (open.has(seq) || waiting.has(seq)) return 'now'
    return seq < order.nextSeq() ? 'never' : 'later'
  }

  const outcomes = createRecordedOutcomes({
    ...{ recorded: all, readEnded, find, isWanted, nextTurn },
    pass: (step) => deliveries.add(step),
  })

  const refresh = async () => {
    await outcomes.read()
    const pause = createPauses(nextTurn)
    for (const seq of [...asking]) {
      await pause()
      const step = await find(seq)
      if (step?.status === 'started' && asking.has(seq)) deliveries.add(step)
    }
  }

  const earlyCall = (): Divergence | undefined => {
    const [early] = order.pending()
    return early === undefined ? undefined : missingRecord(callName(early))
  }

  /** The next recorded call, which the code has not made. */
  const missingRecord = (found: string | null): Divergence | undefined => {
    const missing = order.nextRecorded()
    return missing === undefined ? undefined : { seq: order.nextSeq(), expected: callName(missing), found }
  }

  const unclaimedWaits = () =>
    recorded.filter(({ seq, status }) => status === 'waiting' && seq >= order.nextSeq()).map(({ seq }) => seq)

  const quiet = () => (working === 0 ? undefined : new Promise<void>((resolve) => onQuiet.push(resolve)))

  const receive = (seq: number) => {
    const received = deliveries.receive(seq)
    // An approval of another try leaves the call open: it executes again.
    received.then(({ status }) => status === 'started' || open.delete(seq)).catch(() => undefined)
    return received
  }

  const wait = (seq: number) => {
    waiting.add(seq)
    return receive(seq).finally(() => waiting.delete(seq))
  }

  return {
    refresh,
    yieldTurn: deliveries.yieldTurn,
    holdFor: deliveries.holdFor,
    isReplaying: order.isReplaying,
    isNextRecorded(kind, name) {
      const next = order.nextRecorded()
      return next?.kind === kind && next.name === name
    },
    nextSeq: order.nextSeq,
    lastSeq: order.lastSeq,
    openWaits: () => [...waiting, ...unclaimedWaits()],
    openCalls: () => [...open.values(), ...order.pending().map(callName)],
    claim: (kind, name) =>
      new Promise((resolve) => {
        order.add({
          kind,
          name,
          resolve(claim) {
            open.set(claim.seq, callName({ kind, name }))
            resolve(claim)
          },
        })
        if (!isOver) order.assign()
        checkBlocked()
      }),
    replay: ({ seq }) => receive(seq),
    async deliver(step) {
      const received = receive(step.seq)
      // If no call waits, no other call can have been resolved from outside before this step.
      if (waiting.size === 0) deliveries.add(step)
      else await outcomes.read()
      return received
    },
    async busy(work) {
      working++
      try {
        return await work()
      } finally {
        working--
        if (working === 0) for (const resolve of onQuiet.splice(0)) resolve()
        checkBlocked()
      }
    },
    wait(seq, before) {
      if (before?.endOrder !== undefined) outcomes.begunAgain(before.endOrder)
      return wait(seq)
    },
    waitForRetry(seq) {
      asking.add(seq)
      return wait(seq).finally(() => asking.delete(seq))
    },
    whenBlocked: () =>
      new Promise((resolve) => {
        onBlocked = resolve
        checkBlocked()
      }),
    isBlockedAt: (seqs) => isBlocked() && seqs.length === waiting.size && seqs.every((seq) => waiting.has(seq)),
    throughSeq,
    recordedVersion: (name) => all.find((step) => step.kind === 'version' && step.name === name),
    passVersion(name) {
      if (!passedVersions.includes(name)) passedVersions = [...passedVersions, name]
    },
    passedVersions: () => passedVersions,
    diverge(divergence) {
      mismatch ??= divergence
      checkBlocked()
      return new Promise(() => undefined)
    },
    async finish() {
      // Branches that the code did not await may still have recorded calls to make.
      for (let before = 0; order.nextRecorded() !== undefined && before !== order.nextSeq(); ) {
        before = order.nextSeq()
        await quiet()
        await deliveries.drained()
      }
      const divergence = mismatch ?? missingRecord(null)
      if (divergence === undefined) return undefined
      isOver = true
      await quiet()
      return divergence
    },
  }
}
