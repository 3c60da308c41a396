import type { StepRecord, StepStore, YieldTurn } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'

export interface RecordedCallsDeps extends RetryDeps {
  readonly steps: Pick<StepStore, 'read' | 'ended' | 'find'>
  readonly yieldTurn: YieldTurn
}

/** What one turn of the event loop reads. */
const PART = { limit: 500, maxBytes: 1_048_576 }

/**
 * Reads every call of the run with its result, as the calls were recorded at one moment. Other requests get their turn after each part.
 */
export async function readRecordedCalls(deps: RecordedCallsDeps, runId: string): Promise<readonly StepRecord[]> {
  const { steps, yieldTurn } = deps
  const readPart = (after: number) => retryTransient(deps, () => steps.read(runId, { after, ...PART }))
  const first = await readPart(0)
  if (!first.hasMore) return first.items

  const calls = [...first.items]
  for (let hasMore = true; hasMore; ) {
    await yieldTurn()
    const part = await readPart(calls.at(-1)?.seq ?? 0)
    calls.push(...part.items)
    hasMore = part.hasMore
  }
  return withLateOutcomes(deps, runId, calls)
}

/**
 * The calls with the outcomes of waits that ended while the calls were read. Without them, an outcome that was recorded before
 * another one could be missing.
 */
async function withLateOutcomes(
  deps: RecordedCallsDeps,
  runId: string,
  calls: readonly StepRecord[],
): Promise<readonly StepRecord[]> {
  const { steps, yieldTurn } = deps
  const open = new Set(calls.filter(({ endOrder }) => endOrder === undefined).map(({ seq }) => seq))
  const late = new Map<number, StepRecord>()
  for (let after = 0, hasMore = open.size > 0; hasMore; ) {
    await yieldTurn()
    const position = after
    const part = await retryTransient(deps, () => steps.ended(runId, { after: position, limit: PART.limit }))
    for (const { seq } of part.items) {
      const call = open.has(seq) ? await retryTransient(deps, () => steps.find(runId, seq)) : undefined
      if (call !== undefined) late.set(seq, call)
    }
    after = part.items.at(-1)?.endOrder ?? after
    hasMore = part.hasMore
  }
  return late.size === 0 ? calls : calls.map((call) => late.get(call.seq) ?? call)
}
