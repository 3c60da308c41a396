import { isTerminal, targetName } from '@perdure/protocol'
import { shownEnd } from '../chat/end-event.ts'
import { findRun } from '../chat/rights.ts'
import { beginLog, type LogCursor, logName, readLog } from '../chat/run-log.ts'
import type { ProtocolCall } from '../handlers.ts'
import type { AnsweringRun, OpenaiDeps } from './openai-call.ts'
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
  call: Pick<ProtocolCall, 'principal' | 'visibility'>,
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

/** Creates projectors of a response. Of a run whose events have been deleted, every response shows the end. */
export async function projectorsOf(
  { events }: Pick<OpenaiDeps, 'events'>,
  answering: AnsweringRun,
): Promise<(after?: number) => ResponseProjector> {
  const { run, segment } = answering
  const hasLog =
    !isTerminal(run.status) || (await events.read({ runId: run.id }, { after: 0, limit: 1, maxLength: 1 })).length > 0
  const view = viewOf(answering)
  return (after) => createResponseProjector(view, { after, firstSegment: hasLog ? 1 : segment })
}

/** A response as far as the log was read. */
interface Folded {
  readonly cursor: LogCursor
  /** Missing when the projector has ended the response, although the run can continue. */
  readonly projector: ResponseProjector | undefined
  readonly answer: ReadResponse | undefined
}

/** The response as the log has it now. @throws PerdureError `run-not-found` if the run has no such segment */
export async function readResponse(
  deps: OpenaiDeps,
  answering: AnsweringRun,
  charge?: ProtocolCall['charge'],
): Promise<ReadResponse> {
  const { foldCache } = deps
  const id = `${answering.run.id} ${answering.segment}`
  const kept = foldCache.take('response', id) as Folded | undefined
  const known = kept?.cursor.log === (await logName(deps)) ? kept : undefined
  const folded = await continueResponse(deps, answering, known, charge)
  foldCache.keep('response', id, folded, folded.cursor.limit.bytes())
  if (folded.answer === undefined) throw noSuchResponse()
  return folded.answer
}

async function continueResponse(
  deps: OpenaiDeps,
  answering: AnsweringRun,
  known: Folded | undefined,
  charge: ProtocolCall['charge'],
): Promise<Folded> {
  const { run } = answering
  const cursor = known?.cursor ?? (await beginLog(deps, run))
  const projector = known === undefined ? (await projectorsOf(deps, answering))(EVERY_FRAME) : known.projector
  const readBefore = cursor.read
  const hasMore = await readLog(deps, run, cursor, (event) => projector?.next(event))
  charge?.(cursor.read - readBefore + cursor.limit.bytes())
  if (known !== undefined && !hasMore) return known
  // The events after the end of a response can change it, so it is folded again.
  if (projector === undefined) return continueResponse(deps, answering, undefined, charge)
  if (cursor.position === 0 && isTerminal(run.status)) for (const event of shownEnd(deps, run)) projector.next(event)
  const wasOver = projector.isOver()
  projector.rest()
  const isClosedByReading = projector.isOver() && !wasOver
  const response = projector.response()
  return {
    cursor,
    projector: isClosedByReading ? undefined : projector,
    answer: response === undefined ? undefined : { response, isNewest: projector.isNewest() },
  }
}

/** The client has every frame: none is printed. */
const EVERY_FRAME = Number.MAX_SAFE_INTEGER

export interface ReadResponse {
  readonly response: object
  /** Whether no later response shows the same run. */
  readonly isNewest: boolean
}
