import {
  EVERY_ROW,
  type IdGenerator,
  NO_USAGE,
  perdureError,
  type RunRecord,
  type StepRecord,
  type StepStore,
  type Write,
  type YieldTurn,
} from '@perdure/ports'
import { keepResultFiles } from '../durable/recorded-result.ts'
import type { EndRunDeps } from '../engine/end-run.ts'
import { callsOf } from '../engine/forks/fork-decisions.ts'
import { keepShownFiles } from '../engine/run-file-writes.ts'
import type { ThreadRef } from '../runs/find-thread.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { RunTargets } from '../targets/run-target.ts'
import type { WorkflowThreads } from './workflow-threads.ts'

export interface ForkThreadDeps extends Pick<EndRunDeps, 'unitOfWork' | 'clock'> {
  readonly ids: IdGenerator
  readonly steps: StepStore
  readonly yieldTurn: YieldTurn
  readonly targets: RunTargets
  readonly threads: WorkflowThreads
  readonly relaunch: (run: RunRecord) => void
}

export interface ForkRequest extends ThreadRef {
  /** The last call to copy. If missing, all ended calls are copied. */
  readonly throughSeq?: number
}

/**
 * Starts a new thread with the input and the ended calls of another thread. The source thread is not modified. Decisions are
 * not copied: the new thread asks again.
 *
 * @returns the run of the new thread
 * @throws PerdureError `thread-not-found`
 */
export async function forkThread(deps: ForkThreadDeps, request: ForkRequest): Promise<RunRecord> {
  const { threads, targets, ids, clock, unitOfWork, relaunch } = deps
  const source = await threads.newestRun(request, EVERY_ROW)
  const recorded = await callsOf(deps, source.id)
  const ended = recorded.filter(({ seq, status, error }) => {
    const isIncluded = request.throughSeq === undefined || seq <= request.throughSeq
    // The fork has its own budget, so it repeats the call of a child that ended because the budget of the source was
    // used up.
    return isIncluded && (status === 'completed' || (status === 'failed' && error?.budgetOf === undefined))
  })
  const copied = ended.filter(({ seq }, index) => seq === index + 1)

  const { id: runId, threadId } = { id: ids.newId('run'), threadId: ids.newId('thread') }
  const { kind, targetId, version, owner, caller, userId, sessionId, input, metadata, timeoutMs, budget } = source
  const createdAt = clock.now()
  const identity = { id: runId, kind, targetId, version, threadId, owner, caller, userId, sessionId }
  const fork: RunRecord = {
    ...identity,
    ...{
      status: 'queued',
      input,
      usage: NO_USAGE,
      attempt: 1,
      execution: 0,
      timeoutMs,
      budget,
      depth: 0,
      metadata,
      createdAt,
    },
  }
  const asked = copied.filter(({ kind }) => kind === 'approval')
  const inEndOrder = copied
    .filter((call) => !asked.includes(call))
    .sort((a, b) => (a.endOrder ?? 0) - (b.endOrder ?? 0))
  const writes: Write[] = [
    insertRun(targets, fork),
    ...asked.map(({ seq, kind, name, attempt }): Write => {
      return { type: 'step.insert', step: { runId, seq, kind, name, attempt, status: 'started', startedAt: createdAt } }
    }),
    ...copyWrites(fork, source, inEndOrder),
    ...keepResultFiles(runId, copied),
    ...keepShownFiles(runId, source),
    {
      type: 'event.append',
      events: [lifecycleEvent(fork, 'run.queued', { at: createdAt, reason: `fork of ${source.id}` })],
    },
  ]
  const outcome = await unitOfWork.commit(writes)
  if (!outcome.committed) throw perdureError('internal-error', { message: 'the fork conflicted with another write' })
  relaunch(fork)
  return fork
}

/** The storage copies the calls, so that their results do not pass through the process. */
function copyWrites({ id: runId, attempt }: RunRecord, source: RunRecord, calls: readonly StepRecord[]): Write[] {
  if (calls.length === 0) return []
  const copied = calls.map(({ seq }, index) => ({ seq, endOrder: index + 1 }))
  return [{ type: 'step.copy', runId, attempt, source: source.id, calls: copied }]
}
