import { createPauses, type PageStart, type StepRecord, type YieldTurn } from '@perdure/ports'

/** Finds the outcomes of calls that are recorded while a run executes. Each reading takes as long as what is new. */
export interface RecordedOutcomes {
  /** Passes on every outcome that is recorded by now, in the order in which the calls ended. */
  read(): Promise<void>
  /** Notes that a call which had ended with this position has begun again. Another call can end with the same position. */
  begunAgain(endOrder: number): void
}

export interface RecordedOutcomesParts {
  /** The calls that are known already. */
  readonly recorded: readonly StepRecord[]
  /** Reads calls of the run that ended after this position, without results. */
  readonly readEnded: (after: number) => Promise<PageStart<StepRecord>>
  /** Reads one call of the run. */
  readonly find: (seq: number) => Promise<StepRecord | undefined>
  /** Whether the code awaits the outcome of the call, or may do so later. */
  readonly isWanted: (seq: number) => 'now' | 'later' | 'never'
  /** Passes on an outcome. @returns whether the code has received it or will do so */
  readonly pass: (step: StepRecord) => boolean
  readonly nextTurn: YieldTurn
}

/** How many outcomes are read at once, with their results. */
const PART = 10

export function createRecordedOutcomes(parts: RecordedOutcomesParts): RecordedOutcomes {
  const { recorded, readEnded, find, isWanted, pass, nextTurn } = parts
  let position = recorded.reduce((last, { endOrder = 0 }) => Math.max(last, endOrder), 0)
  /** The calls that have ended, and whose outcomes the code has not received yet. In the order of their ends. */
  const ended = new Set<number>()
  let reading: Promise<void> | undefined
  let queued: Promise<void> | undefined

  const passOn = async () => {
    for (const seq of ended) if (isWanted(seq) === 'never') ended.delete(seq)
    const wanted = [...ended].filter((seq) => isWanted(seq) === 'now')
    const pause = createPauses(nextTurn)
    for (let at = 0; at < wanted.length; at += PART) {
      await pause()
      const steps = await Promise.all(wanted.slice(at, at + PART).map(find))
      for (const step of steps) if (step !== undefined && hasEnded(step) && pass(step)) ended.delete(step.seq)
    }
  }

  const readNew = async () => {
    for (let hasMore = true; hasMore; ) {
      const page = await readEnded(position)
      for (const { seq, endOrder = 0 } of page.items) {
        ended.add(seq)
        position = Math.max(position, endOrder)
      }
      hasMore = page.hasMore
      await passOn()
      if (hasMore) await nextTurn()
    }
  }

  const begin = (): Promise<void> => {
    queued = undefined
    reading = readNew().finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    read() {
      if (reading === undefined) return begin()
      // An outcome that is recorded by now may be missing in the present reading.
      queued ??= reading.then(begin, begin)
      return queued
    },
    begunAgain(endOrder) {
      position = Math.min(position, endOrder - 1)
    },
  }
}

const hasEnded = ({ status }: StepRecord): boolean => status === 'completed' || status === 'failed'
