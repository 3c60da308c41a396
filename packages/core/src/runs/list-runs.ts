import type { Clock, Digest, IdempotencyStore, Page, PageQuery, RunKind, RunStore, Visibility } from '@perdure/ports'
import { agentOperations, runOperations, triggerOperations, workflowOperations } from '@perdure/protocol'
import { recordId, recordScope } from '../idempotency/record-id.ts'
import type { PageItem } from '../json/json-page.ts'
import { eachRun } from './each-run.ts'
import type { ListRunsQuery, ReadRuns } from './read-runs.ts'

export interface ListRunsDeps {
  readonly readRuns: Pick<ReadRuns, 'list'>
  readonly runs: Pick<RunStore, 'list'>
  readonly idempotency: Pick<IdempotencyStore, 'runIds'>
  readonly digest: Digest
  readonly clock: Clock
  readonly basePath: string
  /** The agents and workflows that a request can start. */
  readonly registered: () => readonly Target[]
}

interface Target {
  readonly kind: RunKind
  readonly id: string
}

export interface ListRunsRequest {
  readonly query: ListRunsQuery & {
    /** Lists only the runs that requests with this key started; the key is that of `owner` or, without it, the caller. */
    readonly idempotencyKey?: string | undefined
  }
  readonly subject: string
  readonly page: PageQuery
  readonly visibility: Visibility
}

/**
 * Lists runs for the API; see `ReadRuns.list`. The key of a request finds its run until the record of the key expires.
 * Without an agent or workflow, it finds only runs of registered ones.
 *
 * @throws PerdureError `validation-failed`
 */
export type ListRuns = (request: ListRunsRequest) => Promise<Page<PageItem>>

export function createListRuns(deps: ListRunsDeps): ListRuns {
  return async ({ query: { idempotencyKey, ...query }, subject, page, visibility }) => {
    if (idempotencyKey === undefined) return deps.readRuns.list(query, page, visibility)
    const paths = await startPaths(deps, query, idempotencyKey)
    const owner = query.owner ?? subject
    const ids = await deps.idempotency.runIds(
      paths.map((path) => recordId(scopeOf(deps, owner, path), idempotencyKey)),
      deps.clock.now(),
    )
    return deps.readRuns.list({ ...query, ids }, page, visibility)
  }
}

const scopeOf = ({ digest, basePath }: ListRunsDeps, subject: string, path: string): string =>
  recordScope(digest, { subject, method: 'POST', path: basePath + path })

/** The paths of all requests that can have started a run under the key. */
async function startPaths(deps: ListRunsDeps, query: ListRunsQuery, key: string): Promise<readonly string[]> {
  const paths = new Set(targetsOf(deps, query).flatMap(pathsOfTarget))
  for await (const { forkOf, triggerId } of eachRun(deps.runs, { startKey: key }, { content: [] })) {
    if (forkOf !== undefined) for (const path of REPEATS) paths.add(path.replace(':runId', forkOf.runId))
    if (triggerId !== undefined) paths.add(triggerOperations.fireTrigger.path.replace(':triggerId', triggerId))
  }
  return [...paths]
}

function targetsOf({ registered }: ListRunsDeps, { agentId, workflowId }: ListRunsQuery): readonly Target[] {
  if (agentId !== undefined) return [{ kind: 'agent', id: agentId }]
  return workflowId === undefined ? registered() : [{ kind: 'workflow', id: workflowId }]
}

const pathsOfTarget = ({ kind, id }: Target): readonly string[] =>
  kind === 'agent'
    ? [agentOperations.runAgent, agentOperations.streamAgent].map(({ path }) => path.replace(':agentId', id))
    : [workflowOperations.executeWorkflow.path.replace(':workflowId', id)]

const REPEATS = [runOperations.forkRun, runOperations.retryRun, runOperations.rerunRun].map(({ path }) => path)
