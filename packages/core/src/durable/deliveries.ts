import type { StepRecord, YieldTurn } from '@perdure/ports'
import { handledRejection } from './handled-rejection.ts'

/** Delivers the outcomes of durable calls to the code that awaits them. */
export interface Deliveries {
  /** Resolves with the outcome of the call, once all earlier outcomes are delivered. Rejects if its file is missing. */
  receive(seq: number): Promise<StepRecord>
  /**
   * Resolves after the code has run its microtasks and before the next outcome is delivered, as a committed write does.
   */
  yieldTurn(): Promise<void>
  /**
   * Delivers no outcome before this write of the code has settled, because a replay resolves it before the next outcome.
   * Writes settle in the order in which they are made.
   */
  holdFor(write: Promise<unknown>): void
  /** Adds an outcome. Adding it again has no effect. @returns whether the code awaits the outcome */
  add(step: StepRecord): boolean
  /** Whether nothing is left to deliver. */
  isIdle(): boolean
  /** Resolves once nothing is left to deliver and the code has run its microtasks. */
  drained(): Promise<void>
}

/**
 * How many microtasks the code may take between an outcome and its next durable call. Within this limit, parallel
 * branches make their calls in the same order in every execution. A branch that takes more may make its call after the
 * next outcome is delivered to another branch: then two calls of the same kind and name can swap their recorded
 * results. Calls with different names still match their own records.
 */
export const MICROTASKS_PER_OUTCOME = 32

/** How many writes that follow each other can hold an outcome, so that code that writes without end delays no other branch for long. */
const MAX_HOLDS = 32

/** How much is delivered in one turn of the event loop: the code parses each result, and works with it. */
const TURN_SIZE = 128 * 1_024

/** What an outcome costs besides its result. */
const CALL_SIZE = 1_024

export interface DeliveryParts {
  readonly nextTurn: YieldTurn
  /** Reads the result of a call whose result is in a file. */
  readonly readResult: (step: StepRecord) => Promise<StepRecord>
  /** Called whenever nothing is left to deliver. */
  readonly onIdle: () => void
}

/**
 * Delivers one outcome at a time, in the order in which they were recorded, and lets the code run its microtasks in
 * between. Parallel branches therefore make their next calls in the same order in every execution, including the first.
 * A replay delivers many outcomes at once, so after each part of it other work gets its turn of the event loop. A result
 * that is in a file is read before its outcome is delivered, so that the time of the reading changes no order.
 */
export function createDeliveries(
  recorded: readonly StepRecord[],
  { nextTurn, readResult, onIdle }: DeliveryParts,
): Deliveries {
  const receivers = new Map<number, (step: StepRecord | Promise<never>) => void>()
  const outcomes = recorded.filter(({ endOrder }) => endOrder !== undefined).sort((a, b) => orderOf(a) - orderOf(b))
  const known = new Set(outcomes.map(({ seq }) => seq))
  let yielding: (() => void)[] = []
  let pumping: Promise<void> | undefined
  let held: Promise<unknown> | undefined
  let sizeOfTurn = 0

  const insert = (step: StepRecord) => {
    if (known.has(step.seq)) return
    known.add(step.seq)
    const before = outcomes.findLastIndex((other) => orderOf(other) <= orderOf(step))
    outcomes.splice(before + 1, 0, step)
  }

  const takeNext = (): StepRecord | undefined => {
    const index = outcomes.findIndex(({ seq }) => receivers.has(seq))
    return index === -1 ? undefined : outcomes.splice(index, 1)[0]
  }

  /** Returns false when there was nothing to deliver, and a promise when a file has the result. */
  const deliverNext = (): boolean | Promise<true> => {
    if (yielding.length > 0) {
      const resolved = yielding
      yielding = []
      for (const resolve of resolved) resolve()
      sizeOfTurn += CALL_SIZE
      return true
    }
    const next = takeNext()
    if (next === undefined) return false
    if (next.resultFile === undefined || next.result !== undefined) return hand(next.seq, next)
    return readResult(next).then(
      (whole) => hand(next.seq, whole),
      (error: unknown) => hand(next.seq, handledRejection(error)),
    )
  }

  const hand = (seq: number, outcome: StepRecord | Promise<never>): true => {
    sizeOfTurn += CALL_SIZE + (outcome instanceof Promise ? 0 : (outcome.result?.length ?? 0))
    receivers.get(seq)?.(outcome)
    receivers.delete(seq)
    known.delete(seq)
    return true
  }

  const hasNext = () => outcomes.some(({ seq }) => receivers.has(seq))

  /** Waits for the writes of the code, and for those that the code makes next. */
  const release = async () => {
    for (let count = 0; held !== undefined && count < MAX_HOLDS; count++) {
      const write = held
      await write.catch(() => undefined)
      if (held === write) held = undefined
      await runMicrotasks()
    }
  }

  const pump = async () => {
    for (let isDelivered: boolean | Promise<true> = true; isDelivered; ) {
      await runMicrotasks()
      if (held !== undefined && hasNext()) await release()
      if (sizeOfTurn >= TURN_SIZE) {
        await nextTurn()
        sizeOfTurn = 0
      }
      isDelivered = deliverNext()
      if (isDelivered instanceof Promise) await isDelivered
    }
    pumping = undefined
    onIdle()
  }

  const wake = () => {
    pumping ??= pump()
  }

  return {
    receive: (seq) =>
      new Promise((resolve) => {
        receivers.set(seq, resolve)
        wake()
      }),
    yieldTurn: () =>
      new Promise((resolve) => {
        yielding.push(resolve)
        wake()
      }),
    holdFor(write) {
      held = write
    },
    add(step) {
      if (!receivers.has(step.seq)) return false
      insert(step)
      wake()
      return true
    },
    isIdle: () => pumping === undefined,
    async drained() {
      wake()
      await pumping
    },
  }
}

/** An outcome without a recorded order belongs to this execution and comes last. */
const orderOf = ({ endOrder }: StepRecord) => endOrder ?? Number.POSITIVE_INFINITY

async function runMicrotasks(): Promise<void> {
  for (let count = 0; count < MICROTASKS_PER_OUTCOME; count++) await undefined
}
