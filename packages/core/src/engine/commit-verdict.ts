import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { announce, type EndRunDeps, endRun, type RunEnd } from './end-run.ts'
import { type Execution, endOf, type Verdict } from './execution.ts'
import type { LiveRun } from './live-runs.ts'

export interface CommitVerdictDeps extends EndRunDeps, RetryDeps {
  /** Passes a due time to the timer driver, in case it is earlier than the next known timer. */
  readonly onDue: (dueAt: number) => void
}

/**
 * Commits the result of one execution: the run ends or is suspended.
 *
 * @param events events emitted by the code that are not in the log yet
 * @returns whether the result was written; false when the run has ended or changed in the meantime
 */
export async function commitVerdict(
  deps: CommitVerdictDeps,
  { run, execution }: Pick<LiveRun, 'run' | 'execution'>,
  { verdict, events }: { readonly verdict: Verdict; readonly events: RunEnd['events'] },
): Promise<boolean> {
  if (verdict.kind === 'dropped') return false
  if (verdict.kind === 'end') {
    const end = await completeEnd(verdict, execution, events)
    return (await retryTransient(deps, () => endRun(deps, run, end))) !== undefined
  }
  const { suspended, writes, waitingFor, dueAt } = verdict.plan()
  if (writes.length > 0) {
    const rest = { type: 'event.append', events: events ?? [] } as const
    const fence = { type: 'run.fence', runId: run.id, attempt: run.attempt } as const
    const outcome = await retryTransient(deps, () => deps.unitOfWork.commit([fence, rest, ...writes]))
    if (!outcome.committed) return false
  }
  if (dueAt !== undefined) deps.onDue(dueAt)
  announce(deps, suspended, { detail: { waitingFor } })
  return true
}

/**
 * Completes the end of a run with the events that are not in the log yet and, when the run has made durable calls, the
 * usage of its children.
 */
async function completeEnd(
  verdict: Extract<Verdict, { readonly kind: 'end' }>,
  execution: Execution | undefined,
  events: RunEnd['events'],
): Promise<RunEnd> {
  const madeNoCalls = execution?.madeNoCalls() === true
  const end = { ...endOf(verdict), madeNoCalls, ...(events === undefined ? {} : { events }) }
  if (madeNoCalls) return end
  const again = async (): Promise<RunEnd> => ({ ...end, ...(await execution?.usedAtEnd()), again })
  return again()
}
