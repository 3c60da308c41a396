import {
  type EpochMs,
  fromJsonText,
  type JsonText,
  type ListedRun,
  type OutlinedRun,
  type RunRecord,
  toJsonText,
} from '@perdure/ports'
import type { Reply } from '../idempotency/reply.ts'
import { jsonListParts } from '../json/json-list-parts.ts'
import { jsonObject } from '../json/json-members.ts'
import type { PageItem } from '../json/json-page.ts'
import { jsonPieces } from '../json/json-pieces.ts'
import { shownError } from './run-error.ts'
import { runSubject } from './run-events.ts'

interface RunLinks {
  readonly self: string
  readonly events: string
}

const linksOf = (basePath: string, runId: string): RunLinks => ({
  self: `${basePath}/runs/${runId}`,
  events: `${basePath}/runs/${runId}/events`,
})

/** One thing a suspended run waits for. */
export interface WaitingFor {
  readonly kind: string
  readonly name?: string | undefined // missing when the run waits for code
  readonly approvalId?: string | undefined
  readonly toolCallId?: string | undefined // of a client tool
  readonly runId?: string | undefined
  readonly dueAt?: string | undefined
  readonly seq?: number | undefined // of the recorded call that the code does not make
  readonly expected?: string | undefined // that call
  readonly found?: string | null | undefined // the call that the code makes instead
  readonly version?: string | undefined // that is not registered
}

/** Details of an outcome that the record of the run does not hold. */
export interface OutcomeDetail {
  readonly position?: number | undefined // in the queue
  readonly waitingFor?: readonly WaitingFor[]
}

/** A run that has ended or is suspended. */
export interface RunOutcome {
  readonly run: RunRecord
  readonly detail?: OutcomeDetail | undefined
  /** The outcome as rendered for the idempotency record. */
  readonly json?: JsonText | undefined
  /** The server stops while the run goes on: this is the latest status, and no outcome. */
  readonly isInterim?: boolean | undefined
}

/**
 * Renders the outcome or the current status of a run: the body of every answer to a request that starts or awaits a
 * run.
 */
export function renderOutcome(
  run: RunRecord,
  basePath: string,
  { position, waitingFor }: OutcomeDetail = {},
): JsonText {
  const { id, status, finishReason, error, usage, sessionId, threadId, withdrawnBy } = run
  const listed = waitingFor && listedWaits(waitingFor)
  return jsonObject(
    {
      runId: id,
      status,
      finishReason: finishReason ?? null,
      joinedTo: finishReason === 'joined' ? withdrawnBy : undefined,
      error: error && shownError(error),
      usage,
      sessionId: sessionId ?? null,
      threadId,
      position,
      waitingFor: listed,
      approvals: approvalIdsOf(listed),
      subject: runSubject(run),
      links: linksOf(basePath, id),
    },
    { result: run.result },
  )
}

/**
 * Renders the same outcome part by part, with everything that the run waits for.
 *
 * @param waits reads them from the start; `undefined` for a run that is not suspended
 */
export async function* outcomeParts(
  run: RunRecord,
  basePath: string,
  waits: () => AsyncIterable<readonly WaitingFor[]> | undefined,
): AsyncGenerator<string, void, void> {
  const outcome = renderOutcome(run, basePath)
  const waiting = waits()
  if (waiting === undefined) return yield outcome
  yield `${outcome.slice(0, -1)},"waitingFor":`
  yield* jsonListParts(waiting)
  let hasApprovals = false
  for await (const part of jsonListParts(approvalIdPages(waits() ?? waiting))) {
    if (part === '[]') break
    yield hasApprovals ? part : `,"approvals":${part}`
    hasApprovals = true
  }
  yield '}'
}

async function* approvalIdPages(waits: AsyncIterable<readonly WaitingFor[]>) {
  for await (const page of waits) yield approvalIdsOf(page) ?? []
}

/** Upper limit for the waits in an outcome or an event, as JSON. The state of the run lists all of them. */
const MAX_LISTED_WAITS_LENGTH = 256 * 1_024

/** The first waits, as many as fit in an outcome or an event. */
export function listedWaits(waits: readonly WaitingFor[]): readonly WaitingFor[] {
  let length = 0
  const end = waits.findIndex((wait) => {
    length += toJsonText(wait).length
    return length > MAX_LISTED_WAITS_LENGTH
  })
  return end === -1 ? waits : waits.slice(0, end)
}

const approvalIdsOf = (waitingFor: readonly WaitingFor[] = []) => {
  const ids = waitingFor.flatMap(({ approvalId: id, name = '' }) => (id === undefined ? [] : [{ id, name }]))
  return ids.length === 0 ? undefined : ids
}

export const outcomeReply = (run: RunRecord, basePath: string, detail?: OutcomeDetail): Reply => ({
  status: 200,
  json: renderOutcome(run, basePath, detail),
  runId: run.id,
})

/** 200 for an outcome; 202 for a run that was queued for the next process. */
export const awaitedReply = ({ run, detail, json }: RunOutcome, basePath: string): Reply => {
  if (run.status === 'queued') return acceptedReply(run, basePath, detail)
  return json === undefined ? outcomeReply(run, basePath, detail) : { status: 200, json, runId: run.id }
}

export const acceptedReply = (run: RunRecord, basePath: string, detail?: OutcomeDetail): Reply => ({
  status: 202,
  json: renderOutcome(run, basePath, detail),
  location: linksOf(basePath, run.id).self,
  runId: run.id,
})

/** The run as the API shows it. */
export function toRunResource(run: RunRecord, basePath: string) {
  const { input, result } = run
  return {
    ...runFields(run, basePath),
    input: fromJsonText(input),
    result: result === undefined ? undefined : fromJsonText(result),
  }
}

/** The run as a list shows it: with `input` and `result` only if they were read. */
export const renderListedRun = (run: PartialRun, basePath: string): PageItem =>
  jsonPieces(runFields(run, basePath), { input: run.input, result: run.result })

/** A run of which some large members may not have been read. */
type PartialRun = ListedRun<never> & Partial<OutlinedRun>

/** The members of the API's run, except for `input` and `result`. */
function runFields(run: PartialRun, basePath: string) {
  const { targetId, error, createdAt, startedAt, suspendedAt, completedAt, deadlineAt, startAt, ...more } = run
  const {
    timeoutMs: _timeout,
    input: _input,
    result: _result,
    suspension: _suspension,
    resumption: _resumption,
    parentSeq: _seq,
    depth: _depth,
    parked: _parked,
    retries: _retries,
    flow: _flow,
    caller: _caller,
    priority,
    ...rest
  } = more
  return {
    ...rest,
    ...(run.kind === 'agent' ? { agentId: targetId } : { workflowId: targetId }),
    priority: priority === 0 ? undefined : priority,
    finishReason: run.finishReason ?? null,
    error: error && shownError(error),
    createdAt: toIso(createdAt),
    startedAt: startedAt && toIso(startedAt),
    suspendedAt: suspendedAt && toIso(suspendedAt),
    completedAt: completedAt && toIso(completedAt),
    deadlineAt: deadlineAt && toIso(deadlineAt),
    startAt: startAt && toIso(startAt),
    links: linksOf(basePath, run.id),
  }
}

export type RunResource = ReturnType<typeof toRunResource>

const toIso = (at: EpochMs) => new Date(at).toISOString()
