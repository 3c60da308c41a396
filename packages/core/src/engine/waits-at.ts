import type { StepRecord, StepStore } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { type CallReads, callPages } from '../runs/waiting-for.ts'

export interface WaitsAtDeps extends CallReads, RetryDeps {
  readonly steps: Pick<StepStore, 'find' | 'listBriefly'>
}

/** A run with more waits lists all of its waits. */
const FEW_WAITS = 20

/** Those of the calls that wait. */
export async function waitsAt(
  deps: WaitsAtDeps,
  runId: string,
  seqs: readonly number[],
): Promise<readonly StepRecord[]> {
  if (seqs.length <= FEW_WAITS) {
    const found = await Promise.all(seqs.map((seq) => retryTransient(deps, () => deps.steps.find(runId, seq))))
    return found.flatMap((step) => (step?.status === 'waiting' ? [step] : []))
  }
  const wanted = new Set(seqs)
  const waits: StepRecord[] = []
  for await (const page of callPages(deps, runId, 'waiting')) waits.push(...page.filter(({ seq }) => wanted.has(seq)))
  return waits
}
