import { AppError, type StepKind, type StepRecord, type Timers } from '@perdure/ports'
import { createDeliveries } from './deliveries.ts'

/** What a re-execution finds at the next place in the order of calls. */
export interface Claim {
  readonly seq: number
  readonly recorded: StepRecord | undefined
}

/**
 * The durable calls of one execution of a run: gives every call its place, hands out outcomes in the order in which they
 * were settled, and knows when nothing can go on without the outside.
 */
export interface Ledger {
  /**
   * Takes the next place. A re-execution gives it to the call that is recorded there: one that comes too early waits, and
   * one that is recorded nowhere ends the run as `workflow-divergence`.
   */
  claim(kind: StepKind, name: string): Promise<Claim>
  /** Resolves with a recorded outcome, after those that were settled before it. */
  replay(recorded: StepRecord): Promise<StepRecord>
  /** Hands out what this execution has settled itself, after what was settled before. */
  settle(step: StepRecord): Promise<StepRecord>
  /** Counts as going on until `work` has ended. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when the waiting call is settled; never, when the run is suspended first. */
  wait(seq: number): Promise<StepRecord>
  /** Looks what was settled from outside in the meantime. */
  refresh(): Promise<void>
  /** Resolves whenever all of the run's code waits for the outside, with the places it waits at. */
  whenBlocked(): Promise<readonly number[]>
  /** Whether it still does, at these places and no other. */
  isBlockedAt(seqs: readonly number[]): boolean
  /** What the code waits for when it says again, at the side of its calls, what was said before. */
  breathe(): Promise<void>
  /** Whether the code still repeats what is recorded: what it says at the side was said before. */
  isReplaying(): boolean
  /** The last place that was taken, in this execution or in an earlier one. */
  lastSeq(): number
  /** @throws AppError `workflow-divergence` when the code has ended without calling all that is recorded */
  finish(): Promise<void>
}

export interface LedgerParts {
  readonly recorded: readonly StepRecord[]
  /** Calls up to here belong to an earlier part of the run and are not repeated. */
  readonly throughSeq: number
  readonly timers: Timers
  /** Every call of the run as it is recorded now. */
  readonly read: () => Promise<readonly StepRecord[]>
  /** Called when the code no longer calls what is recorded. */
  readonly onDiverged: (error: AppError) => void
}

export function createLedger({ recorded: all, throughSeq, timers, read, onDiverged }: LedgerParts): Ledger {
  const recorded = all.filter(({ seq }) => seq > throughSeq)
  const lastRecorded = recorded.reduce((last, { seq }) => Math.max(last, seq), throughSeq)
  const records = new Map(recorded.map((step) => [step.seq, step]))
  const deliveries = createDeliveries(recorded, () => check())
  const waiting = new Set<number>()
  let onBlocked: ((seqs: readonly number[]) => void) | undefined
  let early: Call[] = []
  let nextSeq = throughSeq + 1
  let working = 0
  let cancelCheck = () => {}

  const isBlocked = () => waiting.size + early.length > 0 && working === 0 && deliveries.isIdle()

  /** Looks after all that is ready has run, and once more after that: code between two calls may need a turn. */
  const check = (turns = 2) => {
    cancelCheck()
    if (!isBlocked()) return
    cancelCheck = timers.after(0, () => {
      if (!isBlocked()) return
      if (turns > 1) check(turns - 1)
      else if (early[0] !== undefined) diverged(`call ${nextSeq} is the ${nameOf(early[0])}${recordedAt(nextSeq)}`)
      else onBlocked?.([...waiting])
    })
  }

  const recordedAt = (seq: number) => {
    const found = records.get(seq)
    return found === undefined ? '' : `, recorded is the ${nameOf(found)}`
  }

  /** Places every call whose turn it is. */
  const place = () => {
    for (let call = nextCall(); call !== undefined; call = nextCall()) {
      early = early.filter((one) => one !== call)
      const seq = nextSeq++
      call.resolve({ seq, recorded: records.get(seq) })
    }
    check()
  }

  const nextCall = () => {
    const found = records.get(nextSeq)
    return found === undefined ? early[0] : early.find((call) => nameOf(call) === nameOf(found))
  }

  const refresh = async () => {
    for (const step of await read()) if (isOver(step)) deliveries.add(step)
  }

  /** One that is started again ends a wait; any other one that is started still executes. */
  const isOver = ({ seq, status }: StepRecord) => (status === 'started' ? waiting.has(seq) : status !== 'waiting')

  const diverged = (message: string) => {
    const error = new AppError('workflow-divergence', {
      message,
      hint: 'keep the calls of running code in their order',
    })
    onDiverged(error)
    return error
  }

  return {
    refresh,
    breathe: deliveries.breathe,
    isReplaying: () => nextSeq <= lastRecorded,
    lastSeq: () => Math.max(nextSeq - 1, lastRecorded),
    claim: (kind, name) =>
      new Promise((resolve) => {
        early.push({ kind, name, resolve })
        place()
      }),
    replay: ({ seq }) => deliveries.receive(seq),
    async settle(step) {
      const received = deliveries.receive(step.seq)
      // Only while something is waited for can the outside have settled a call before this one.
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
        check()
      }
    },
    wait(seq) {
      waiting.add(seq)
      return deliveries.receive(seq).finally(() => waiting.delete(seq))
    },
    whenBlocked: () =>
      new Promise((resolve) => {
        onBlocked = resolve
        check()
      }),
    isBlockedAt: (seqs) => isBlocked() && seqs.length === waiting.size && seqs.every((seq) => waiting.has(seq)),
    async finish() {
      // Code at the side of what has ended may still have to repeat its calls.
      for (let before = 0; records.has(nextSeq) && before !== nextSeq; ) {
        before = nextSeq
        await deliveries.drained()
      }
      const missing = records.get(nextSeq)
      if (missing !== undefined) throw diverged(`the code ended before the recorded ${nameOf(missing)}`)
    },
  }
}

interface Call {
  readonly kind: StepKind
  readonly name: string
  resolve(claim: Claim): void
}

const nameOf = ({ kind, name }: Pick<StepRecord, 'kind' | 'name'>) => `${kind} ${name}`
