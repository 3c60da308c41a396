import {
  awaitsResume,
  createKeyedMutex,
  type KeyedRequest,
  type Reply,
  type ResumeRun,
  type RunTarget,
  type StartRun,
} from '@perdure/core'
import { isRefusal, perdureError } from '@perdure/ports'
import { type AwaitedInputDeps, takesInput } from '../chat/awaited-input.ts'
import type { ChatCall } from '../chat/chat-call.ts'
import { chatInput, chatTools, messagesIn, targetInput } from '../chat/chat-input.ts'
import {
  type ChatRuns,
  EXTERNAL_ID,
  MAX_METADATA,
  MESSAGE_REF,
  messageRef,
  newestRun,
  PROTOCOL,
} from '../chat/chat-session.ts'
import { rememberedEarlier } from '../chat/earlier-messages.ts'
import {
  type ClaimedMessage,
  type MessageClaims,
  type MessageClaimsDeps,
  messageClaims,
} from '../chat/message-claims.ts'
import { onBusyIn } from '../chat/on-busy.ts'
import { withStoredFiles } from '../chat/stored-files.ts'
import { unsentMessages } from '../chat/unsent-messages.ts'
import { isReplacing, replacedTurn } from './replaced-turn.ts'
import type { Continuation } from './response-name.ts'
import { type SentBeforeDeps, sentBefore } from './sent-before.ts'
import { newMessages, toChatMessage, type UiMessage } from './ui-message.ts'

export interface SendMessageDeps extends SentBeforeDeps, Omit<MessageClaimsDeps, 'recall'>, AwaitedInputDeps {
  readonly startRun: StartRun
  readonly resumeRun: ResumeRun
}

export interface AiSdkRequestBody {
  readonly id?: string | undefined
  readonly messages: readonly UiMessage[]
  readonly trigger: 'submit-message' | 'regenerate-message'
  readonly messageId?: string | undefined
  readonly [setting: string]: unknown
}

/** A request whose chat is known. */
export type SentChat = AiSdkRequestBody & { readonly id: string }

export interface Delivered {
  readonly reply: Reply
  /** Where the answer begins, if the run existed before the message. */
  readonly after?: Continuation | undefined
}

interface Chat {
  readonly target: RunTarget
  readonly shown: ChatRuns
}

interface Sending extends Chat {
  readonly last: UiMessage
  readonly claims: MessageClaims
}

/** How often the messages of a request are compared with those that other requests take at the same time. */
const MAX_TRIES = 5

/** Refusals that can mean that another request has delivered the message, or one that was sent with it. */
const RACES: readonly string[] = ['idempotency-conflict', 'idempotency-in-flight', 'run-not-suspended']

/**
 * Delivers the last message of the user once, and with it those before it that no request has delivered: to the run that
 * waits for input, or to a new turn.
 */
export function createSendMessage(
  deps: SendMessageDeps,
): (call: ChatCall, body: SentChat, chat: Chat) => Promise<Delivered> {
  // Of concurrent requests with one message, the first delivers it.
  const perMessage = createKeyedMutex()

  return async (call, body, chat) => {
    const last = newMessages(body.messages).at(-1)
    if (last === undefined) throw nothingToDo()
    const claims = messageClaims(deps, call, { route: 'chat', chatId: body.id })
    const sending: Sending = { ...chat, last, claims }
    return perMessage(`${chat.shown.sessionId} ${last.id}`, () =>
      isReplacing(body) ? startTurn(deps, call, body, sending) : deliverOnce(deps, call, body, sending),
    )
  }
}

async function deliverOnce(
  deps: SendMessageDeps,
  call: ChatCall,
  body: SentChat,
  sending: Sending,
): Promise<Delivered> {
  const { last, shown, claims } = sending
  const claim = await claims.of(claimed(last))
  const key = call.key === undefined ? claim : { ...call.key, claim }
  const before = () => deliveredBefore(deps, shown, { message: last, principal: call.principal, key, claim })
  const isAlone = newMessages(body.messages).length === 1
  for (let tries = 1; ; tries++) {
    const earlier = await before()
    if (earlier !== undefined) return earlier
    try {
      return await deliver(deps, { ...call, key }, body, sending)
    } catch (error) {
      // Another server may have delivered the message meanwhile, or one that was sent with it.
      const isRace = isRefusal(error) && RACES.includes(error.code)
      if (!isRace || tries === MAX_TRIES || (isAlone && (await before()) === undefined)) throw error
    }
  }
}

async function deliveredBefore(
  deps: SendMessageDeps,
  shown: ChatRuns,
  sent: Parameters<typeof sentBefore>[2],
): Promise<Delivered | undefined> {
  const { runId, isInput = false } = (await sentBefore(deps, shown, sent)) ?? {}
  if (runId === undefined) return undefined
  return isInput
    ? { reply: { status: 202, runId }, after: { ref: sent.message.id } }
    : { reply: { status: 200, runId, replayed: true } }
}

async function deliver(deps: SendMessageDeps, call: ChatCall, body: SentChat, sending: Sending): Promise<Delivered> {
  const { last, shown } = sending
  const run = await newestRun(deps, shown)
  const isAwaited = run !== undefined && awaitsResume(run) && (await takesInput(deps, run, last.id))
  return isAwaited
    ? continueWith(deps, call, body, { ...sending, runId: run.id })
    : startTurn(deps, call, body, sending)
}

async function continueWith(
  deps: SendMessageDeps,
  call: ChatCall,
  body: SentChat,
  { last, shown, claims, runId }: Sending & { readonly runId: string },
): Promise<Delivered> {
  const { principal, visibility } = call
  const { sessionId } = shown
  const unsent = await unsentMessages(deps, shown, {
    ...{ messages: newMessages(body.messages), member: MESSAGE_REF, replacedId: undefined },
    isTaken: (message) => claims.isTaken(claimed(message)),
  })
  const stored = await withStoredFiles(deps, unsent.map(toChatMessage), { principal, isChat: true, sessionId })
  const { text, messages } = chatInput(deps, stored)
  const key = withEarlier(call.key, await claims.ofEarlier(messages, unsent.map(claimed)))
  const via = { protocol: 'ai-sdk', ref: last.id }
  await deps.resumeRun({
    ...{ runId, payload: { text, messages }, principal, visibility, via, key, answer: 'accepted' },
  })
  return { reply: { status: 202, runId }, after: { ref: last.id } }
}

async function startTurn(
  deps: SendMessageDeps,
  call: ChatCall,
  body: SentChat,
  { last, target, shown, claims }: Sending,
): Promise<Delivered> {
  const { agentId, principal, traceparent, key } = call
  const { sessionId } = shown
  const isNew = !isReplacing(body)
  const sent = newMessages(body.messages)
  const replaced = await replacedTurn(deps, shown, body)
  const asked =
    replaced?.earlier === undefined
      ? await unsentMessages(deps, shown, {
          ...{ messages: sent, member: MESSAGE_REF, replacedId: replaced?.id },
          isTaken: async (message) => isNew && claims.isTaken(claimed(message)),
        })
      : [...replaced.earlier, last]
  const onBusy = onBusyIn(last.metadata, 'metadata of the last message')
  const messages = await withStoredFiles(deps, asked.map(toChatMessage), { principal, isChat: true })
  const chat = chatInput(deps, messages, settingsOf(body), chatTools(body.tools))
  const input = await targetInput(target, chat)
  // Messages that replace others can have the same ids.
  const earlier = isNew ? await claims.ofEarlier(messagesIn(input), sent.map(claimed)) : []
  const reply = await deps.startRun({
    target: { kind: 'agent', id: agentId },
    body: {
      ...{ input, sessionId, replaces: replaced?.id, onBusy },
      metadata: {
        ...{ [PROTOCOL]: 'ai-sdk', [MESSAGE_REF]: messageRef(deps.digest, last.id) },
        ...rememberedEarlier(input),
      },
    },
    newSession: { metadata: { [EXTERNAL_ID]: body.id.slice(0, MAX_METADATA) } },
    ...{ principal, traceparent, key: withEarlier(key, earlier), answer: 'accepted' },
  })
  return { reply }
}

const withEarlier = (key: KeyedRequest | undefined, includes: readonly KeyedRequest[]): KeyedRequest | undefined =>
  key === undefined || includes.length === 0 ? key : { ...key, includes }

const claimed = ({ id, role, parts }: UiMessage): ClaimedMessage => ({ id, role, content: { parts } })

const KNOWN: readonly string[] = ['id', 'messages', 'trigger', 'messageId', 'tools']

const settingsOf = (body: AiSdkRequestBody) =>
  Object.fromEntries(Object.entries(body).filter(([member]) => !KNOWN.includes(member)))

export const nothingToDo = () =>
  perdureError('validation-failed', {
    message: 'body.messages: the last message is neither a new message of the user nor an answer to an open approval',
    hint: 'to follow a run that is answering, use GET /agents/:agentId/chat/:chatId/stream',
  })
