import { awaitsResume, fieldsOf, isFields, type LogEvent } from '@perdure/core'
import type { ListedRun } from '@perdure/ports'
import { isTerminal, namedTarget } from '@perdure/protocol'
import { takesInput, viaIn } from '../chat/awaited-input.ts'
import { chatInput } from '../chat/chat-input.ts'
import { chatSessionId, MAX_METADATA, newestRun } from '../chat/chat-session.ts'
import { withStoredFiles } from '../chat/stored-files.ts'
import type { ProtocolCall } from '../handlers.ts'
import { segmentOf } from './answers.ts'
import type { AnsweringRun, OpenaiDeps } from './openai-call.ts'
import { invalid } from './refusals.ts'
import { CONVERSATION, findResponse, PREVIOUS, readResponse } from './response-reader.ts'
import { conversationOf, inputMessages, newInput, type ResponseBody } from './response-request.ts'

/** Where a client continues: after an earlier response, in a conversation, or nowhere. */
export interface Context {
  readonly session: { readonly id: string; readonly externalId?: string } | undefined
  readonly previous?: AnsweringRun
  /** The metadata by which the new run remembers it. */
  readonly remembered: Readonly<Record<string, string>>
}

/** @throws PerdureError `run-not-found`; `validation-failed` if the earlier response has no session */
export async function contextOf(deps: OpenaiDeps, call: ProtocolCall, body: ResponseBody): Promise<Context> {
  const previousId = body.previous_response_id ?? undefined
  const conversation = conversationOf(body)
  if (conversation !== undefined) {
    if (previousId !== undefined) throw invalid('conversation', 'send either conversation or previous_response_id')
    const session = {
      id: await chatSessionId(deps, call.principal, conversation, 'conversation'),
      externalId: conversation,
    }
    return { session, remembered: { [CONVERSATION]: conversation.slice(0, MAX_METADATA) } }
  }
  if (previousId === undefined) return { session: undefined, remembered: {} }
  const previous = await findResponse(deps, call, previousId)
  const { sessionId, metadata } = previous.run
  if (sessionId === undefined) throw invalid('previous_response_id', 'the response was created without a session')
  const { [CONVERSATION]: conversationId } = metadata
  const kept: Record<string, string> = conversationId === undefined ? {} : { [CONVERSATION]: conversationId }
  return { session: { id: sessionId }, previous, remembered: { [PREVIOUS]: previousId, ...kept } }
}

/** Passes the message of the user to the run that has asked for input; `undefined` if none has. */
export async function passInput(
  deps: OpenaiDeps,
  call: ProtocolCall,
  body: ResponseBody,
  context: Context,
): Promise<AnsweringRun | undefined> {
  const { principal, visibility, key } = call
  const { previous } = context
  const run = previous?.run ?? (await newestOf(deps, call, body, context))
  const ref = body.previous_response_id ?? ''
  const sent = inputMessages(newInput(body.input))
  if (run === undefined || sent.length === 0 || !(await takesInput(deps, run, ref))) return undefined
  const { sessionId } = run
  const messages = await withStoredFiles(deps, sent, { principal, isChat: sessionId !== undefined, sessionId })
  const { text } = chatInput(deps, messages)
  const isResumption = (event: LogEvent) =>
    event.type === 'run.resumed' && viaIn(event.payload) === ref && textOf(event) === text
  if (awaitsResume(run) && (previous === undefined || (await readResponse(deps, previous)).isNewest)) {
    const via = { protocol: 'openai', ref }
    await deps.resumeRun({
      runId: run.id,
      payload: { text, messages },
      principal,
      visibility,
      key,
      via,
      answer: 'accepted',
    })
  }
  const segment = await segmentOf(deps, run, isResumption)
  return segment === 1 ? undefined : { run, segment }
}

/** What the client has sent to a run that asked for input. */
const textOf = (event: LogEvent): unknown => {
  const { payload } = fieldsOf(event)
  return isFields(payload) ? payload.text : undefined
}

async function newestOf(
  deps: OpenaiDeps,
  { visibility }: ProtocolCall,
  { model }: ResponseBody,
  { session }: Context,
): Promise<ListedRun | undefined> {
  const { kind, id: agentId } = namedTarget(model)
  if (session === undefined || kind !== 'agent') return undefined
  const newest = await newestRun(deps, { agentId, sessionId: session.id, visibility })
  return newest === undefined || isTerminal(newest.status) ? undefined : newest
}
