import type { ChatMessage, KeyedRequest, Recall, Reply, RunTargets, StartRun } from '@perdure/core'
import { fromJsonText, isRefusal, perdureError, type RunStore } from '@perdure/ports'
import type { ChatCall } from '../chat/chat-call.ts'
import { type ChatLimits, chatInput, chatTools, messagesIn, targetInput } from '../chat/chat-input.ts'
import {
  type ChatRuns,
  type ChatSessionDeps,
  EXTERNAL_ID,
  MAX_METADATA,
  MESSAGE_ID,
  MESSAGE_REF,
  messageRef,
  PROTOCOL,
  turnWith,
} from '../chat/chat-session.ts'
import { type ClientKeyDeps, clientKey } from '../chat/client-key.ts'
import { rememberedEarlier, runsWithEarlier } from '../chat/earlier-messages.ts'
import { type ClaimedMessage, type MessageClaims, messageClaims } from '../chat/message-claims.ts'
import { onBusyIn } from '../chat/on-busy.ts'
import { type StoredFilesDeps, withStoredFiles } from '../chat/stored-files.ts'
import { unsentMessages } from '../chat/unsent-messages.ts'
import type { AgUiMessage } from './message.ts'
import { type AgUiRequestBody, newMessages, toChatMessage } from './request.ts'

export interface StartTurnDeps extends ChatSessionDeps, ChatLimits, ClientKeyDeps, StoredFilesDeps {
  readonly targets: Pick<RunTargets, 'get'>
  readonly runs: Pick<RunStore, 'list' | 'find'>
  readonly startRun: StartRun
  readonly recall: Recall
}

/** How often the messages of a request are compared with those that other requests take at the same time. */
const MAX_TRIES = 3

/**
 * Starts a turn with the new messages, or names the run of an earlier request that has taken the last one with others.
 *
 * @returns `undefined` if the request has no new message
 */
export async function startTurn(
  deps: StartTurnDeps,
  call: ChatCall,
  body: AgUiRequestBody,
  sessionId: string,
): Promise<Reply | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryStart(deps, call, body, sessionId)
    } catch (error) {
      // Another request may have taken one of the messages meanwhile.
      if (!isRefusal(error) || error.code !== 'idempotency-conflict' || tries === MAX_TRIES) throw error
    }
  }
}

async function tryStart(
  deps: StartTurnDeps,
  call: ChatCall,
  body: AgUiRequestBody,
  sessionId: string,
): Promise<Reply | undefined> {
  const { agentId, principal, traceparent, visibility } = call
  const sent = newMessages(body.messages)
  const last = sent.at(-1)
  if (last === undefined) return undefined
  const onBusy = onBusyIn(body.forwardedProps, 'forwardedProps')
  const thread = { agentId, sessionId, visibility }
  const claims = claimsOf(deps, call, body)
  const known = await knownMessage(deps, thread, claims, last)
  if (known.follow !== undefined) return { status: 200, runId: known.follow }
  const unsent = await unsentMessages(deps, thread, {
    ...{ messages: sent.map(toChatMessage), member: MESSAGE_ID, replacedId: known.replaces },
    isTaken: async (message) => known.isNew && claims.isTaken(claimedIn(sent, message)),
  })
  const messages = await withStoredFiles(deps, unsent, { principal, isChat: true })
  const chat = { ...chatInput(deps, messages, {}, chatTools(body.tools)), ...offeredBy(body) }
  const input = await targetInput(deps.targets.get('agent', agentId), chat)
  const claim = known.isNew ? await claims.of(claimed(last)) : undefined
  const earlier = known.isNew ? await claims.ofEarlier(messagesIn(input), sent.map(claimed)) : []
  const includes = [...(claim === undefined ? [] : [claim]), ...earlier]
  return deps.startRun({
    target: { kind: 'agent', id: agentId },
    body: {
      ...{ input, sessionId, replaces: known.replaces, onBusy },
      metadata: {
        ...{ [PROTOCOL]: 'ag-ui', [MESSAGE_REF]: messageRef(deps.digest, body.runId) },
        ...(known.ref === undefined ? {} : { [MESSAGE_ID]: known.ref }),
        ...rememberedEarlier(input),
      },
    },
    newSession: { metadata: { [EXTERNAL_ID]: body.threadId.slice(0, MAX_METADATA) } },
    key: { ...(await runIdentity(deps, call, body)), includes },
    ...{ principal, traceparent, answer: 'accepted' },
  })
}

interface KnownMessage {
  readonly ref?: string
  /** The turn that the message has started: a client that sends it again wants another answer to it. */
  readonly replaces?: string | undefined
  /** The run that has taken the message together with a later one. */
  readonly follow?: string
  readonly isNew: boolean
}

async function knownMessage(
  deps: StartTurnDeps,
  thread: ChatRuns,
  claims: MessageClaims,
  last: AgUiMessage,
): Promise<KnownMessage> {
  if (last.id === undefined || last.id === '') return { isNew: false }
  const ref = messageRef(deps.digest, last.id)
  const metadata = { [MESSAGE_ID]: ref }
  const turn = await turnWith(deps, thread, metadata)
  if (turn !== undefined) return { ref, replaces: turn.id, isNew: false }
  const { agentId: targetId, sessionId, visibility } = thread
  const filter = { kind: 'agent', targetId, sessionId, isRoot: true, metadata } as const
  const { items } = await deps.runs.list(filter, { limit: 1, order: 'desc', content: [] }, visibility)
  if (items.length > 0) return { ref, isNew: false }
  const run = (await runsWithEarlier(deps, thread, [last.id])).get(last.id)
  if (run?.withdrawnBy !== undefined) return { ref, isNew: false }
  if (run !== undefined) {
    const stored = messagesIn(fromJsonText(run.input)).find(({ id }) => id === last.id)
    if (textIn(stored) !== textIn(toChatMessage(last))) throw otherMessage()
    return { ref, follow: run.id, isNew: false }
  }
  const claim = await claims.of(claimed(last))
  const taken = claim === undefined ? undefined : await deps.recall.runOf(claim)
  return taken === undefined ? { ref, isNew: true } : { ref, follow: taken, isNew: false }
}

/** The identities of the messages of the thread. */
export const claimsOf = (deps: StartTurnDeps, call: ChatCall, { threadId }: AgUiRequestBody): MessageClaims =>
  messageClaims(deps, call, { route: 'ag-ui/messages', chatId: threadId })

export const claimed = ({ id, role, content }: AgUiMessage): ClaimedMessage => ({ id, role, content: { content } })

export const claimedIn = (sent: readonly AgUiMessage[], { id, role }: ChatMessage): ClaimedMessage =>
  claimed(sent.find((message) => message.id === id) ?? { id: '', role })

/** The key of the request, and what identifies it besides: the id that the client gave to the run. */
export async function runIdentity(deps: ClientKeyDeps, call: ChatCall, body: AgUiRequestBody): Promise<KeyedRequest> {
  const claim = await runKey(deps, call, body)
  return call.key === undefined ? claim : { ...call.key, claim }
}

/**
 * A client that reconnects before its first request is stored repeats the run id, with another state and with messages after
 * the last one of the user.
 */
export function runKey(deps: ClientKeyDeps, call: ChatCall, body: AgUiRequestBody): Promise<KeyedRequest> {
  const { threadId, runId, messages, resume = [] } = body
  const content = { message: lastOf(messages)?.id ?? '', ...(resume.length === 0 ? {} : { resume }) }
  return clientKey(deps, call, { route: 'ag-ui', chatId: threadId, ref: runId, content })
}

/** @throws PerdureError `idempotency-conflict` if the run answers another message than the last one of the user */
export async function refuseOtherMessage(
  { runs, digest }: Pick<StartTurnDeps, 'runs' | 'digest'>,
  { visibility }: ChatCall,
  runId: string,
  { messages }: AgUiRequestBody,
): Promise<void> {
  const last = lastOf(messages)
  const run = last === undefined ? undefined : await runs.find(runId, visibility)
  if (last === undefined || run === undefined) return
  const ref = run.metadata[MESSAGE_ID]
  const stored = messagesIn(fromJsonText(run.input)).at(-1)
  const isOther = ref !== undefined && last.id !== undefined && last.id !== '' && ref !== messageRef(digest, last.id)
  if (isOther || (stored !== undefined && textIn(stored) !== textIn(toChatMessage(last)))) throw otherMessage()
}

const lastOf = (messages: readonly AgUiMessage[]) => messages.findLast(({ role }) => role === 'user')

const textIn = (message: ChatMessage | undefined): string =>
  (message?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

const otherMessage = () =>
  perdureError('idempotency-conflict', {
    message: 'the thread has another message under this id, or another run under this runId',
    hint: 'send a new message with a new id and a new runId',
  })

/** What the client passes to the agent besides the messages and the tools. */
const offeredBy = ({ state, context, forwardedProps: settings }: AgUiRequestBody): object =>
  Object.fromEntries(Object.entries({ state, context, settings }).filter(([, value]) => !isEmpty(value)))

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
