import { AppError, type StepKind, type StepRecord, type Timers } from '@perdure/ports'
import { type Claim, callName, createCallOrder } from './call-order.ts'
import { createDeliveries } from './deliveries.ts'

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
 *   blocked for two turns of the event loop: an early call → workflow-divergence, else → whenBlocked resolves
 * ```
 */
export interface Ledger {
  /**
   * Takes the next sequence number. In a re-execution, the number goes to the call that is recorded under it: a call
   * made too early waits, and a call that is not recorded ends the run as `workflow-divergence`.
   */
  claim(kind: StepKind, name: string): Promise<Claim>
  /** Resolves with a recorded outcome, after the outcomes that were recorded before it. */
  replay(recorded: StepRecord): Promise<StepRecord>
  /** Delivers an outcome of this execution, after the outcomes that were recorded before it. */
  deliver(step: StepRecord): Promise<StepRecord>
  /** Keeps the run from counting as blocked until `work` has settled. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** Resolves once the wait is over. Stays pending when the run is suspended first. */
  wait(seq: number): Promise<StepRecord>
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
  /** Whether recorded calls remain. Events that the code emits until then are already in the log. */
  isReplaying(): boolean
  /** The highest number in use, by this execution or by an earlier execution. */
  lastSeq(): number
  /** @throws AppError `workflow-divergence` when the code has ended without making every recorded call */
  finish(): Promise<void>
}

export interface LedgerParts {
  readonly recorded: readonly StepRecord[]
  /** Calls up to this number belong to an earlier part of the run and are not repeated. */
  readonly throughSeq: number
  readonly timers: Timers
  /** Reads every call of the run as it is recorded now. */
  readonly read: () => Promise<readonly StepRecord[]>
  /** Called when the code no longer makes the recorded calls. */
  readonly onDiverged: (error: AppError) => void
}

/** Turns of the event loop for which a run has to stay blocked: code between two calls may need one turn. */
const BLOCKED_TURNS = 2

export function createLedger({ recorded: all, throughSeq, timers, read, onDiverged }: LedgerParts): Ledger {
  const recorded = all.filter(({ seq }) => seq > throughSeq)
  const order = createCallOrder(recorded, throughSeq)
  const deliveries = createDeliveries(recorded, () => checkBlocked())
  const waiting = new Set<number>()
  let onBlocked: ((seqs: readonly number[]) => void) | undefined
  let working = 0
  let cancelCheck = () => {}

  const isBlocked = () => waiting.size + order.pending().length > 0 && working === 0 && deliveries.isIdle()

  const checkBlocked = (turnsLeft = BLOCKED_TURNS) => {
    cancelCheck()
    if (!isBlocked()) return
    cancelCheck = timers.after(0, () => {
      if (!isBlocked()) return
      const [early] = order.pending()
      if (turnsLeft > 1) checkBlocked(turnsLeft - 1)
      else if (early === undefined) onBlocked?.([...waiting])
      else diverged(`call ${order.nextSeq()} is the ${callName(early)}${recordedText(order.nextRecorded())}`)
    })
  }

  const refresh = async () => {
    for (const step of await read()) if (isResolved(step)) deliveries.add(step)
  }

  /** Approval of another try changes a waiting step to `started`; any other `started` step is still executing. */
  const isResolved = ({ seq, status }: StepRecord) => (status === 'started' ? waiting.has(seq) : status !== 'waiting')

  const diverged = (message: string) => {
    const error = new AppError('workflow-divergence', {
      message,
      hint: 'keep the order of durable calls unchanged while runs of this code are unfinished',
    })
    onDiverged(error)
    return error
  }

  return {
    refresh,
    yieldTurn: deliveries.yieldTurn,
    isReplaying: order.isReplaying,
    lastSeq: order.lastSeq,
    claim: (kind, name) =>
      new Promise((resolve) => {
        order.add({ kind, name, resolve })
        order.assign()
        checkBlocked()
      }),
    replay: ({ seq }) => deliveries.receive(seq),
    async deliver(step) {
      const received = deliveries.receive(step.seq)
      // If no call waits, no other call can have been resolved from outside before this step.
      if (waiting.size === 0) deliveries.add(step)
      else await refresh()
      return received
    },
    async busy(work) {
      working++
      try {
        return await work()
      } finally {
        working--
        checkBlocked()
      }
    },
    wait(seq) {
      waiting.add(seq)
      return deliveries.receive(seq).finally(() => waiting.delete(seq))
    },
    whenBlocked: () =>
      new Promise((resolve) => {
        onBlocked = resolve
        checkBlocked()
      }),
    isBlockedAt: (seqs) => isBlocked() && seqs.length === waiting.size && seqs.every((seq) => waiting.has(seq)),
    async finish() {
      // Branches that the code did not await may still have recorded calls to make.
      for (let before = 0; order.nextRecorded() !== undefined && before !== order.nextSeq(); ) {
        before = order.nextSeq()
        await deliveries.drained()
      }
      const missing = order.nextRecorded()
      if (missing !== undefined) throw diverged(`the code ended before the recorded ${callName(missing)}`)
    },
  }
}

const recordedText = (found: StepRecord | undefined) =>
  found === undefined ? '' : `, but the ${callName(found)} is recorded`
