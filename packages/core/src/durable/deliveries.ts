import type { StepRecord } from '@perdure/ports'

/** Hands settled calls to the code that waits for them. */
export interface Deliveries {
  /** Resolves when the call of this place is settled and its turn has come. */
  receive(seq: number): Promise<StepRecord>
  /** Resolves before the next outcome, but after what the code does meanwhile: as a write does that needs one commit. */
  breathe(): Promise<void>
  /** Makes a settled call known; once is enough. */
  add(step: StepRecord): void
  /** Whether nothing that could be handed out is left. */
  isIdle(): boolean
  /** Resolves once all code has had its turns and nothing is left to hand out. */
  drained(): Promise<void>
}

/** How many turns of the microtask queue the code gets to make its next calls after each outcome. */
const TURNS = 32

/**
 * Hands out one outcome after the other, in the order in which they were settled, and lets the code go on in between:
 * so parallel branches make their next calls in the same order in every execution, the first one included. Calls
 * `onIdle` whenever nothing is left to hand out.
 */
export function createDeliveries(recorded: readonly StepRecord[], onIdle: () => void): Deliveries {
  const receivers = new Map<number, (step: StepRecord) => void>()
  const known = new Set<number>()
  let settled: StepRecord[] = []
  let breathing: (() => void)[] = []
  let pumping: Promise<void> | undefined

  const insert = (step: StepRecord) => {
    if (known.has(step.seq)) return
    known.add(step.seq)
    settled.push(step)
    settled.sort((a, b) => placeOf(a) - placeOf(b))
  }

  const takeNext = (): StepRecord | undefined => {
    const next = settled.find(({ seq }) => receivers.has(seq))
    settled = settled.filter((step) => step !== next)
    return next
  }

  /** False when there was nothing to hand out. */
  const handOut = (): boolean => {
    if (breathing.length > 0) {
      const resolved = breathing
      breathing = []
      for (const resolve of resolved) resolve()
      return true
    }
    const next = takeNext()
    if (next === undefined) return false
    receivers.get(next.seq)?.(next)
    receivers.delete(next.seq)
    known.delete(next.seq)
    return true
  }

  const pump = async () => {
    do await turns()
    while (handOut())
    pumping = undefined
    onIdle()
  }

  const wake = () => {
    pumping ??= pump()
  }

  for (const step of recorded) if (step.endOrder !== undefined) insert(step)

  return {
    receive: (seq) =>
      new Promise((resolve) => {
        receivers.set(seq, resolve)
        wake()
      }),
    breathe: () =>
      new Promise((resolve) => {
        breathing.push(resolve)
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

/** What has no place among the settled calls comes last: it was settled here and now. */
const placeOf = ({ endOrder }: StepRecord) => endOrder ?? Number.POSITIVE_INFINITY

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await undefined
}
