import { AppError, type StepKind, type StepRecord, type Timers } from '@berth/ports'

/** What a re-execution finds at the next place in the order of calls. */
export interface Claim {
  readonly seq: number
  readonly recorded: StepRecord | undefined
}

/**
 * The durable calls of one execution of a run: gives every call its place, hands out what is recorded, and knows when
 * nothing can go on without the outside.
 */
export interface Ledger {
  /** Takes the next place. A record of another kind or name there ends the run as `workflow-divergence`. */
  claim(kind: StepKind, name: string): Claim
  /** Resolves with a recorded outcome, after those that were recorded before it. */
  replay(recorded: StepRecord): Promise<StepRecord>
  /** Counts as going on until `work` has ended. */
  busy<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when the waiting call is settled; never, when the run is suspended first. */
  wait(seq: number): Promise<StepRecord>
  /** Hands a settled call to the code that waits for it. */
  deliver(step: StepRecord): void
  /** Resolves whenever all of the run's code waits for the outside, with the places it waits at. */
  whenBlocked(): Promise<readonly number[]>
  /** Whether the code still repeats what is recorded: what it says at the side was said before. */
  isReplaying(): boolean
  /** The last place that was taken. */
  lastSeq(): number
  /** Rejects when the code no longer calls what is recorded. */
  readonly divergence: Promise<never>
  /** @throws AppError `workflow-divergence` when the code has ended without calling all that is recorded */
  finish(): void
}

export function createLedger(all: readonly StepRecord[], timers: Timers, throughSeq = 0): Ledger {
  const recorded = all.filter(({ seq }) => seq > throughSeq)
  const lastRecorded = recorded.reduce((last, { seq }) => Math.max(last, seq), throughSeq)
  const records = new Map(recorded.map((step) => [step.seq, step]))
  const replays = createReplayOrder(recorded)
  const waiting = new Map<number, (step: StepRecord) => void>()
  const { promise: divergence, reject: diverge } = Promise.withResolvers<never>()
  divergence.catch(() => undefined)
  let onBlocked: ((seqs: readonly number[]) => void) | undefined
  let nextSeq = throughSeq + 1
  let working = 0
  let cancelCheck = () => {}

  const isBlocked = () => waiting.size > 0 && working === 0 && replays.isIdle()

  /** Looks after all that is ready has run, and once more after that: code between two calls may need a turn. */
  const check = (turns = 2) => {
    cancelCheck()
    if (!isBlocked()) return
    cancelCheck = timers.after(0, () => {
      if (!isBlocked()) return
      if (turns > 1) check(turns - 1)
      else onBlocked?.([...waiting.keys()])
    })
  }

  const diverged = (message: string) => {
    const error = new AppError('workflow-divergence', {
      message,
      hint: 'keep the calls of running code in their order',
    })
    diverge(error)
    return error
  }

  return {
    divergence,
    isReplaying: () => nextSeq <= lastRecorded,
    lastSeq: () => nextSeq - 1,
    claim(kind, name) {
      const seq = nextSeq++
      const found = records.get(seq)
      if (found !== undefined && (found.kind !== kind || found.name !== name)) {
        throw diverged(`call ${seq} is the ${kind} ${name}, recorded is the ${found.kind} ${found.name}`)
      }
      return { seq, recorded: found }
    },
    replay: (step) => replays.request(step).finally(() => check()),
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
      return new Promise((resolve) => {
        waiting.set(seq, resolve)
        check()
      })
    },
    deliver(step) {
      const resolve = waiting.get(step.seq)
      waiting.delete(step.seq)
      resolve?.(step)
    },
    whenBlocked: () =>
      new Promise((resolve) => {
        onBlocked = resolve
        check()
      }),
    finish() {
      const missing = records.get(nextSeq)
      if (missing !== undefined) throw diverged(`the code ended before the recorded ${missing.kind} ${missing.name}`)
    },
  }
}

interface ReplayOrder {
  request(step: StepRecord): Promise<StepRecord>
  isIdle(): boolean
}

/** How many turns of the microtask queue the code gets to make its next calls after each replayed outcome. */
const TURNS = 32

/**
 * Replays recorded outcomes in the order in which they were settled, however the calls come in, so that parallel
 * branches make their next calls in the same order as the first time.
 */
function createReplayOrder(recorded: readonly StepRecord[]): ReplayOrder {
  const order = recorded.filter((step) => step.order !== undefined).sort((a, b) => (a.order ?? 0) - (b.order ?? 0))
  const requested = new Map<number, (step: StepRecord) => void>()
  let isPumping = false

  const pump = async () => {
    isPumping = true
    while (requested.size > 0) {
      await turns()
      const next = order.find(({ seq }) => requested.has(seq))
      if (next === undefined) break
      order.splice(order.indexOf(next), 1)
      requested.get(next.seq)?.(next)
      requested.delete(next.seq)
    }
    isPumping = false
  }

  return {
    request: (step) =>
      new Promise((resolve) => {
        requested.set(step.seq, resolve)
        if (!isPumping) void pump()
      }),
    isIdle: () => requested.size === 0,
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await undefined
}
