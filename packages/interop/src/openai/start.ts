import type { ChatMessage, ChatTool } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import { namedTarget } from '@perdure/protocol'
import { chatInput, targetInput } from '../chat/chat-input.ts'
import { EXTERNAL_ID, MAX_METADATA, PROTOCOL } from '../chat/chat-session.ts'
import { offeredTarget } from '../chat/offered-agent.ts'
import { onBusyIn } from '../chat/on-busy.ts'
import { withStoredFiles } from '../chat/stored-files.ts'
import type { ProtocolCall } from '../handlers.ts'
import type { CompletionBody } from './completion-request.ts'
import type { OpenaiDeps, Outcome } from './openai-call.ts'
import { invalid } from './refusals.ts'

/** A run that a client asks for. */
export interface Asked {
  readonly body: Pick<CompletionBody, 'model' | 'metadata' | 'user'>
  /** The member of the body that holds the messages. */
  readonly param: 'messages' | 'input'
  readonly messages: readonly ChatMessage[]
  readonly settings: Readonly<Record<string, unknown>>
  /** What the client passes to the agent besides the messages. */
  readonly offered?: Readonly<Record<string, unknown>>
  readonly tools: readonly ChatTool[]
  readonly session: { readonly id: string; readonly externalId?: string | undefined } | undefined
  /** What the server remembers of the request. */
  readonly remembered?: Readonly<Record<string, string>>
}

/** @throws PerdureError `agent-not-found`, `workflow-not-found`, `invalid-input` and the refusals of a start */
export async function startAnswer(deps: OpenaiDeps, call: ProtocolCall, asked: Asked): Promise<Outcome> {
  const { targets, startRun, runs } = deps
  const { body, param, messages, settings, offered, tools, session, remembered } = asked
  const { principal, key, traceparent, visibility } = call
  const { kind, id } = namedTarget(body.model)
  const target = offeredTarget(targets, { kind, id }, 'openai')
  if (messages.length === 0) throw invalid(param, 'has no new message and answers nothing')
  const { onBusy: _, ...metadata } = body.metadata ?? {}
  const onBusy = onBusyIn(body.metadata, 'metadata')
  const stored = await withStoredFiles(deps, messages, { principal, isChat: session !== undefined })
  const chat = { ...chatInput(deps, stored, settings, tools), ...offered }
  const input = await targetInput(target, chat)
  const { externalId = '' } = session ?? {}
  const reply = await startRun({
    target: { kind, id },
    body: {
      ...{ input, onBusy },
      metadata: { ...metadata, [PROTOCOL]: 'openai', ...remembered },
      userId: body.user ?? undefined,
      ...(session === undefined ? {} : { sessionId: session.id }),
    },
    ...(session === undefined ? {} : { newSession: { metadata: sessionMetadata(externalId) } }),
    ...{ key, principal, traceparent, answer: 'accepted' },
  })
  const { runId, replayed } = reply
  if (runId === undefined) return reply
  const run = await runs.find(runId, visibility)
  if (run === undefined) throw perdureError('run-not-found')
  return { run, segment: 1, replayed, isRepeated: replayed }
}

const sessionMetadata = (externalId: string): Readonly<Record<string, string>> =>
  externalId === '' ? {} : { [EXTERNAL_ID]: externalId.slice(0, MAX_METADATA) }
