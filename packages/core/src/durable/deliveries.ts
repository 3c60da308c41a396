import type { StepRecord, YieldTurn } from '@perdure/ports'

/** Delivers the outcomes of durable calls to the code that awaits them. */
export interface Deliveries {
  /** Resolves with the outcome of the call, once all earlier outcomes are delivered. */
  receive(seq: number): Promise<StepRecord>
  /**
   * Resolves after the code has run its microtasks and before the next outcome is delivered, as a committed write does.
   */
  yieldTurn(): Promise<void>
  /** Adds an outcome. Adding it again has no effect. */
  add(step: StepRecord): void
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

/** How much is delivered in one turn of the event loop: the code parses each result, and works with it. */
const TURN_SIZE = 128 * 1_024

/** What an outcome costs besides its result. */
const CALL_SIZE = 1_024

export interface DeliveryParts {
  readonly nextTurn: YieldTurn
  /** Called whenever nothing is left to deliver. */
  readonly onIdle: () => void
}

/**
 * Delivers one outcome at a time, in the order in which they were recorded, and lets the code run its microtasks in
 * between. Parallel branches therefore make their next calls in the same order in every execution, including the first.
 * A replay delivers many outcomes at once, so after each part of it other work gets its turn of the event loop.
 */
export function createDeliveries(recorded: readonly StepRecord[], { nextTurn, onIdle }: DeliveryParts): Deliveries {
  const receivers = new Map<number, (step: StepRecord) => void>()
  const outcomes = recorded.filter(({ endOrder }) => endOrder !== undefined).sort((a, b) => orderOf(a) - orderOf(b))
  const known = new Set(outcomes.map(({ seq }) => seq))
  let yielding: (() => void)[] = []
  let pumping: Promise<void> | undefined
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

  /** Returns false when there was nothing to deliver. */
  const deliverNext = (): boolean => {
    if (yielding.length > 0) {
      const resolved = yielding
      yielding = []
      for (const resolve of resolved) resolve()
      sizeOfTurn += CALL_SIZE
      return true
    }
    const next = takeNext()
    if (next === undefined) return false
    sizeOfTurn += CALL_SIZE + (next.result?.length ?? 0)
    receivers.get(next.seq)?.(next)
    receivers.delete(next.seq)
    known.delete(next.seq)
    return true
  }

  const pump = async () => {
    do {
      await runMicrotasks()
      if (sizeOfTurn >= TURN_SIZE) {
        await nextTurn()
        sizeOfTurn = 0
      }
    } while (deliverNext())
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
    add(step) {
      if (!receivers.has(step.seq)) return
      insert(step)
      wake()
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
