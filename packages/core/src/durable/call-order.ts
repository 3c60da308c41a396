import type { StepKind, StepRecord } from '@perdure/ports'

/** The sequence number given to a durable call, and what an earlier execution recorded under it. */
export interface Claim {
  readonly seq: number
  readonly recorded: StepRecord | undefined
}

/** A durable call that waits for its sequence number. */
export interface PendingCall {
  readonly kind: StepKind
  readonly name: string
  resolve(claim: Claim): void
}

/**
 * Gives the durable calls of one execution their sequence numbers. While recorded calls are left, the next number goes to the
 * call with the recorded kind and name, in whatever order parallel code makes them; after that, calls are numbered as they come.
 */
export interface CallOrder {
  add(call: PendingCall): void
  /** Resolves every call whose number is known by now. */
  assign(): void
  /** Calls without a number, oldest first. They are made too early, or are not recorded at all. */
  pending(): readonly PendingCall[]
  /** The number of the next call. */
  nextSeq(): number
  /** The record that the next call has to match; `undefined` past the last recorded call. */
  nextRecorded(): StepRecord | undefined
  /** Whether recorded calls are left. */
  isReplaying(): boolean
  /** The highest number in use, by this execution or by the record. */
  lastSeq(): number
}

/** @param afterSeq calls up to this number belong to an earlier part of the run and are not repeated */
export function createCallOrder(recorded: readonly StepRecord[], afterSeq: number): CallOrder {
  const records = new Map(recorded.map((step) => [step.seq, step]))
  const lastRecorded = recorded.reduce((last, { seq }) => Math.max(last, seq), afterSeq)
  let pending: readonly PendingCall[] = []
  let nextSeq = afterSeq + 1

  const nextCall = () => {
    const found = records.get(nextSeq)
    return found === undefined ? pending[0] : pending.find((call) => callName(call) === callName(found))
  }

  return {
    add(call) {
      pending = [...pending, call]
    },
    assign() {
      for (let call = nextCall(); call !== undefined; call = nextCall()) {
        const assigned = call
        pending = pending.filter((other) => other !== assigned)
        const seq = nextSeq++
        assigned.resolve({ seq, recorded: records.get(seq) })
      }
    },
    pending: () => pending,
    nextSeq: () => nextSeq,
    nextRecorded: () => records.get(nextSeq),
    isReplaying: () => nextSeq <= lastRecorded,
    lastSeq: () => Math.max(nextSeq - 1, lastRecorded),
  }
}

/** A call in an error message: its kind and name. */
export const callName = ({ kind, name }: Pick<StepRecord, 'kind' | 'name'>) => `${kind} ${name}`
