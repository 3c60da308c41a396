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
 * Assigns sequence numbers to the durable calls of one execution. While recorded calls remain, the next number goes to
 * the call with the recorded kind and name, in whatever order parallel code makes its calls. After that, calls are
 * numbered in the order in which they are made.
 */
export interface CallOrder {
  add(call: PendingCall): void
  /** Assigns each number that can be assigned now, and resolves the calls. */
  assign(): void
  /** Calls without a number, oldest first. Such a call was made too early, or is not recorded at all. */
  pending(): readonly PendingCall[]
  /** The number of the next call. */
  nextSeq(): number
  /** The record that the next call has to match; `undefined` past the last recorded call. */
  nextRecorded(): StepRecord | undefined
  /** Whether recorded calls remain. */
  isReplaying(): boolean
  /** The highest number in use, by this execution or by the records. */
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

/** Names a call in an error message by its kind and name. */
export const callName = ({ kind, name }: Pick<StepRecord, 'kind' | 'name'>) => `${kind} ${name}`
