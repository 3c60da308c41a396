import { fromJsonText, type RunRecord } from '@perdure/ports'
import { isTerminal, targetName } from '@perdure/protocol'
import { findRun } from '../chat/rights.ts'
import { eventsOf } from '../chat/run-log.ts'
import type { LogEvent } from '../fold/log-event.ts'
import type { AnsweringRun, OpenaiCall, OpenaiDeps } from './openai-call.ts'
import { noSuchResponse } from './refusals.ts'
import { parseResponseId } from './response-id.ts'
import type { ResponseView } from './response-object.ts'
import { createResponseProjector, type ResponseProjector } from './response-projector.ts'

/** The metadata of a run by which its responses show what the client asked for. */
export const PREVIOUS = 'interop.previous'
export const CONVERSATION = 'interop.conversation'
export const BACKGROUND = 'interop.background'

const INTERNAL = 'interop.'

/** The metadata that the client has set. */
export const ownMetadata = (metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !name.startsWith(INTERNAL)))

/** Finds the run of a response. @throws PerdureError `run-not-found` */
export async function findResponse(
  deps: Pick<OpenaiDeps, 'runs'>,
  call: Pick<OpenaiCall, 'principal' | 'visibility'>,
  id: string,
): Promise<AnsweringRun> {
  const ref = parseResponseId(id)
  const run = ref === undefined ? undefined : await findRun(deps, call, ref.runId)
  if (ref === undefined || run === undefined) throw noSuchResponse()
  return { run, segment: ref.segment }
}

export function viewOf({ run, segment }: AnsweringRun): ResponseView {
  const { id: runId, kind, targetId: agentId, sessionId, metadata, createdAt } = run
  return {
    ...{ runId, agentId, sessionId, segment, model: targetName({ kind, id: agentId }) },
    startedAt: Math.floor(createdAt / 1_000),
    metadata: ownMetadata(metadata),
    isBackground: metadata[BACKGROUND] !== undefined,
    ...{ previousResponseId: metadata[PREVIOUS], conversationId: metadata[CONVERSATION] },
  }
}

/** Creates the projector of a response. Of a run whose events have been deleted, every response shows the end. */
export async function projectorOf(
  { events }: Pick<OpenaiDeps, 'events'>,
  answering: AnsweringRun,
  after?: number,
): Promise<ResponseProjector> {
  const { run, segment } = answering
  const hasLog = !isTerminal(run.status) || (await events.read({ runId: run.id }, { after: 0, limit: 1 })).length > 0
  return createResponseProjector(viewOf(answering), { after, firstSegment: hasLog ? 1 : segment })
}

/** The response as the log has it now. @throws PerdureError `run-not-found` if the run has no such segment */
export async function readResponse(deps: OpenaiDeps, answering: AnsweringRun): Promise<ReadResponse> {
  const projector = await projectorOf(deps, answering)
  let isEmpty = true
  for await (const event of eventsOf(deps, answering.run)) {
    isEmpty = false
    projector.next(event)
  }
  if (isEmpty && isTerminal(answering.run.status)) projector.next(endEvent(answering.run))
  projector.rest()
  const response = projector.response()
  if (response === undefined) throw noSuchResponse()
  return { response, isNewest: projector.isNewest() }
}

export interface ReadResponse {
  readonly response: object
  /** Whether no later response shows the same run. */
  readonly isNewest: boolean
}

/** The event that ended the run, from its record. */
function endEvent({
  status,
  error,
  abortReason,
  finishReason,
  result,
  completedAt,
  createdAt,
  id,
}: RunRecord): LogEvent {
  return {
    ...{ eventId: `${id}.end`, type: `run.${status}`, at: new Date(completedAt ?? createdAt).toISOString() },
    payload: {
      ...{ status, finishReason, reason: abortReason },
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
      ...(result === undefined ? {} : { result: fromJsonText(result) }),
    },
  }
}
