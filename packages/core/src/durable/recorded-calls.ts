import type { StepRecord, StepStore, YieldTurn } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'

export interface RecordedCallsDeps extends RetryDeps {
  readonly steps: Pick<StepStore, 'list' | 'read'>
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

  // While the parts are read, waits can end. Their outcomes would be missing before later ones that a later part contains.
  const calls = await retryTransient(deps, () => steps.list(runId, { results: false }))
  const whole = new Map<number, StepRecord>()
  for (let after = 0, hasMore = true; hasMore; ) {
    await yieldTurn()
    const part = await readPart(after)
    for (const call of part.items) whole.set(call.seq, call)
    after = part.items.at(-1)?.seq ?? after
    hasMore = part.hasMore
  }
  return calls.map((call) => {
    const found = whole.get(call.seq)
    return found?.status === call.status ? found : call
  })
}
