import {
  perdureError,
  type StepRecord,
  type StepStore,
  toJsonText,
  type Visibility,
  type Write,
  type YieldTurn,
} from '@perdure/ports'
import type { ResolveWait } from '../durable/resolve-wait.ts'
import type { ResumeResult, ResumeSuspended } from '../engine/resume-suspended.ts'
import { type CommitOnceDeps, reservation } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import { replayAnswer } from '../idempotency/recall.ts'
import type { Reply } from '../idempotency/reply.ts'
import { acceptedReply } from '../runs/run-outcome.ts'
import { awaitsResume } from '../runs/stored-suspension.ts'
import { type CallReads, callPages } from '../runs/waiting-for.ts'
import type { WorkflowThreads } from './workflow-threads.ts'

export interface ResumeWorkflowDeps extends CommitOnceDeps {
  readonly steps: StepStore
  readonly yieldTurn: YieldTurn
  readonly threads: WorkflowThreads
  readonly resolveWait: ResolveWait
  readonly resumeSuspended: ResumeSuspended
  readonly basePath: string
}

export interface ResumeWorkflowRequest {
  readonly workflowId: string
  readonly threadId: string
  /** Name of the awaited event; optional if the thread waits for only one event. */
  readonly name?: string | undefined
  readonly payload?: unknown
  /** Runs that are visible to the caller. */
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

/**
 * Resumes a suspended thread with a payload: the awaited event, or the payload for `ctx.suspend`.
 *
 * @throws PerdureError `workflow-not-found`, `thread-not-found`, `resume-without-suspension`
 */
export type ResumeWorkflow = (request: ResumeWorkflowRequest) => Promise<Reply>

export function createResumeWorkflow(deps: ResumeWorkflowDeps): ResumeWorkflow {
  const { threads, resolveWait, resumeSuspended, basePath } = deps

  return async (request) => {
    const { key, payload, visibility } = request
    const run = await threads.newestRun(request, visibility)
    const reply = acceptedReply({ ...run, status: 'queued' }, basePath)
    const writes: readonly Write[] = reservation(deps, key, { reply, remember: true, writes: [] })
    const outcome: ResumeResult = awaitsResume(run)
      ? await resumeSuspended(run, { payload, writes })
      : await resolveWait(await waitOf(deps, run.id, request), {
          result: toJsonText(payload ?? null),
          writes,
        })
    if (outcome === 'resolved') return reply
    if (
      outcome !== 'over' &&
      !outcome.committed &&
      outcome.conflict.type === 'idempotency.reserve' &&
      key !== undefined
    ) {
      return replayAnswer(outcome.conflict.current, key, deps)
    }
    throw notWaiting('another request has already resumed the thread')
  }
}

async function waitOf(reads: CallReads, runId: string, { name }: ResumeWorkflowRequest): Promise<StepRecord> {
  const waiting: StepRecord[] = []
  for await (const page of callPages(reads, runId, 'waiting')) {
    waiting.push(...page.filter(({ kind }) => kind === 'event'))
  }
  const named = name === undefined ? waiting : waiting.filter(({ eventName }) => eventName === name)
  const [only, ...more] = named
  if (only === undefined) throw notWaiting('the thread does not wait for this event')
  if (more.length > 0 && name === undefined)
    throw notWaiting('the thread waits for several events: pass the name of one')
  return only
}

const notWaiting = (message: string) => perdureError('resume-without-suspension', { message })
