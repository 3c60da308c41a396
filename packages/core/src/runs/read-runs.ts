import {
  type ApprovalStore,
  type EpochMs,
  type EventLog,
  type FinishReason,
  type Page,
  type PageQuery,
  perdureError,
  type RunFilter,
  type RunRecord,
  type RunStatus,
  type RunStore,
  type StepStore,
  type Visibility,
  type YieldTurn,
} from '@perdure/ports'
import type { LogLevel } from '@perdure/protocol'
import type { Reply } from '../idempotency/reply.ts'
import type { JsonParts } from '../json/json-list-parts.ts'
import type { PageItem } from '../json/json-page.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import { readEventPage } from '../realtime/read-event-page.ts'
import { readLogPage } from './read-log-page.ts'
import { type Receipt, receiptOf } from './receipt.ts'
import { runSubject } from './run-events.ts'
import { outcomeParts, outcomeReply, type RunResource, renderListedRun, toRunResource } from './run-outcome.ts'
import { waitPages, waitsOf } from './waiting-for.ts'

export interface ReadRunsDeps {
  readonly runs: RunStore
  readonly events: EventLog
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly yieldTurn: YieldTurn
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
  readonly until?: string | undefined // ISO-8601
  readonly owner?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly tag?: string | undefined
  readonly version?: string | undefined
  readonly finishReason?: FinishReason | undefined
  readonly code?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly include?: readonly IncludedContent[] | undefined
}

/** A member of a run that lists leave out unless the caller asks for it. */
export type IncludedContent = 'input' | 'result'

export interface RunLogsQuery {
  readonly runId: string
  /** The least severe level to return; `debug` when missing. */
  readonly level?: LogLevel | undefined
}

/** Reads runs for the API. A run that the caller may not see is `run-not-found`, like a run that does not exist. */
export interface ReadRuns {
  get(runId: string, visibility: Visibility): Promise<RunResource>
  outcome(runId: string, visibility: Visibility): Promise<Reply>
  receipt(runId: string, visibility: Visibility): Promise<Receipt>
  /** Renders the outcome of the run part by part, because a run can have any number of waits. */
  state(runId: string, visibility: Visibility): Promise<JsonParts>
  /** A page of runs, each as JSON. */
  list(query: ListRunsQuery, page: PageQuery, visibility: Visibility): Promise<Page<PageItem>>
  /**
   * A page of the run's events, each as JSON; the cursor is an event id.
   *
   * @throws PerdureError `validation-failed` for a cursor of another log
   */
  events(runId: string, page: PageQuery, visibility: Visibility): Promise<Page<PageItem>>
  /**
   * A page of the lines that the code of the run logged, each as JSON; the cursor is an event id.
   *
   * @throws PerdureError `validation-failed` for a cursor of another log
   */
  logs(query: RunLogsQuery, page: PageQuery, visibility: Visibility): Promise<Page<PageItem>>
}

export function createReadRuns(deps: ReadRunsDeps): ReadRuns {
  const { runs, events, render, basePath } = deps
  const find = async (runId: string, visibility: Visibility): Promise<RunRecord> => {
    const run = await runs.find(runId, visibility)
    if (run === undefined) throw perdureError('run-not-found')
    return run
  }

  return {
    get: async (runId, visibility) => toRunResource(await find(runId, visibility), basePath),
    async outcome(runId, visibility) {
      const run = await find(runId, visibility)
      if (run.status !== 'suspended') return outcomeReply(run, basePath)
      return outcomeReply(run, basePath, { waitingFor: await waitsOf(deps, run) })
    },

    receipt: async (runId, visibility) => receiptOf(await find(runId, visibility)),

    async state(runId, visibility) {
      const run = await find(runId, visibility)
      return outcomeParts(run, basePath, () => (run.status === 'suspended' ? waitPages(deps, run) : undefined))
    },

    async list({ include: content = [], ...query }, page, visibility) {
      const { items, nextCursor } = await runs.outline(filterOf(query), { ...page, content }, visibility)
      return { items: items.map((run) => renderListedRun(run, basePath)), nextCursor }
    },

    async events(runId, page, visibility) {
      const run = await find(runId, visibility)
      return readEventPage(events, { stream: { runId }, subject: runSubject(run), render }, page)
    },
    async logs({ runId, level }, page, visibility) {
      const run = await find(runId, visibility)
      return readLogPage({ events, render }, { run, level }, page)
    },
  }
}

function filterOf({ status, agentId, workflowId, since, until, include: _, ...named }: ListRunsQuery): RunFilter {
  if (agentId !== undefined && workflowId !== undefined) {
    throw perdureError('validation-failed', {
      message: 'agentId and workflowId exclude each other',
      hint: 'pass only one of them',
    })
  }
  return {
    statuses: status === undefined ? undefined : [status],
    kind: agentId !== undefined ? 'agent' : workflowId !== undefined ? 'workflow' : undefined,
    targetId: agentId ?? workflowId,
    ...named,
    since: since === undefined ? undefined : (Date.parse(since) as EpochMs),
    until: until === undefined ? undefined : (Date.parse(until) as EpochMs),
  }
}
