import {
  AppError,
  type ApprovalStore,
  type EpochMs,
  type EventLog,
  type Page,
  type PageQuery,
  type RunFilter,
  type RunRecord,
  type RunStatus,
  type RunStore,
  type StepStore,
  type Visibility,
} from '@perdure/ports'
import type { Reply } from '../idempotency/reply.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import type { EventEnvelope } from '../realtime/event-envelope.ts'
import { readEventPage } from '../realtime/read-event-page.ts'
import { runSubject } from './run-events.ts'
import { outcomeReply, type RunResource, toRunResource } from './run-outcome.ts'
import { waitsOf } from './waiting-for.ts'

export interface ReadRunsDeps {
  readonly runs: RunStore
  readonly events: EventLog
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly render: RenderEnvelope
  readonly basePath: string
}

export interface ListRunsQuery {
  readonly status?: RunStatus | undefined
  readonly agentId?: string | undefined
  readonly workflowId?: string | undefined
  readonly sessionId?: string | undefined
  readonly threadId?: string | undefined
  readonly parentRunId?: string | undefined
  readonly since?: string | undefined // ISO-8601
}

/** Reads runs for the API. A run that the caller may not see is `run-not-found`, like a run that does not exist. */
export interface ReadRuns {
  get(runId: string, visibility: Visibility): Promise<RunResource>
  outcome(runId: string, visibility: Visibility): Promise<Reply>
  list(query: ListRunsQuery, page: PageQuery, visibility: Visibility): Promise<Page<RunResource>>
  /**
   * A page of the run's events; the cursor is an event id.
   *
   * @throws AppError `validation-failed` for a cursor of another log
   */
  events(runId: string, page: PageQuery, visibility: Visibility): Promise<Page<EventEnvelope>>
}

export function createReadRuns({ runs, events, steps, approvals, render, basePath }: ReadRunsDeps): ReadRuns {
  const find = async (runId: string, visibility: Visibility): Promise<RunRecord> => {
    const run = await runs.find(runId, visibility)
    if (run === undefined) throw new AppError('run-not-found')
    return run
  }

  return {
    get: async (runId, visibility) => toRunResource(await find(runId, visibility), basePath),
    async outcome(runId, visibility) {
      const run = await find(runId, visibility)
      if (run.status !== 'suspended') return outcomeReply(run, basePath)
      return outcomeReply(run, basePath, { waitingFor: await waitsOf({ steps, approvals }, run) })
    },

    async list(query, page, visibility) {
      const { items, nextCursor } = await runs.list(filterOf(query), page, visibility)
      return { items: items.map((run) => toRunResource(run, basePath)), nextCursor }
    },

    async events(runId, page, visibility) {
      const run = await find(runId, visibility)
      return readEventPage(events, { stream: { runId }, subject: runSubject(run), render }, page)
    },
  }
}

function filterOf({ status, agentId, workflowId, since, ...named }: ListRunsQuery): RunFilter {
  if (agentId !== undefined && workflowId !== undefined) {
    throw new AppError('validation-failed', {
      message: 'agentId and workflowId exclude each other',
      hint: 'pass only one of them',
    })
  }
  return {
    statuses: status === undefined ? undefined : [status],
    kind: agentId !== undefined ? 'agent' : workflowId !== undefined ? 'workflow' : undefined,
    targetId: agentId ?? workflowId,
    sessionId: named.sessionId,
    threadId: named.threadId,
    parentRunId: named.parentRunId,
    since: since === undefined ? undefined : (Date.parse(since) as EpochMs),
  }
}
