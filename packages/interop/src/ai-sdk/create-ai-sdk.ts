import {
  type AbortRun,
  awaitsResume,
  type ChatInput,
  createKeyedMutex,
  type KeyedRequest,
  type QueuedMessageResource,
  type Reply,
  type ResumeRun,
  type RunTarget,
  type RunTargets,
  type StartRun,
  toQueuedMessage,
} from '@perdure/core'
import {
  type ApprovalStore,
  type Clock,
  isRefusal,
  type Page,
  type PageQuery,
  perdureError,
  type RunRecord,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { takesInput } from '../chat/awaited-input.ts'
import type { ChatCall } from '../chat/chat-call.ts'
import type { HistoryDeps } from '../chat/chat-history.ts'
import { chatInput, chatTools, targetInput } from '../chat/chat-input.ts'
import {
  agentChatSessionId,
  type ChatRuns,
  EXTERNAL_ID,
  MAX_METADATA,
  MESSAGE_REF,
  newestRun,
  PROTOCOL,
  workingRun,
} from '../chat/chat-session.ts'
import { type ClientKeyDeps, clientKey } from '../chat/client-key.ts'
import { offeredAgent } from '../chat/offered-agent.ts'
import { onBusyIn } from '../chat/on-busy.ts'
import { type DecideDeps, passAnswers } from '../chat/pass-answers.ts'
import { withStoredFiles } from '../chat/stored-files.ts'
import { unsentMessages } from '../chat/unsent-messages.ts'
import { chatHistory } from './chat-history.ts'
import { chatOfMessages } from './chat-of-messages.ts'
import { createOpenResponse, nothingToFollow, type OpenResponseDeps } from './open-response.ts'
import { runIdIn } from './projector.ts'
import { isReplacing, replacedTurn } from './replaced-turn.ts'
import { type NamedResponse, parseResponseName, type Version } from './response-name.ts'
import { type SentBeforeDeps, sentBefore } from './sent-before.ts'
import { decisionsIn, newMessages, toChatMessage, toolResultsIn, type UiMessage } from './ui-message.ts'

export interface AiSdkDeps extends HistoryDeps, DecideDeps, ClientKeyDeps, SentBeforeDeps, OpenResponseDeps {
  readonly targets: RunTargets
  readonly approvals: ApprovalStore
  readonly runs: HistoryDeps['runs']
  readonly clock: Clock
  readonly startRun: StartRun
  readonly resumeRun: ResumeRun
  readonly abortRun: AbortRun
  readonly replayEndedMs: number
}

export interface AiSdkRequestBody {
  readonly id?: string | undefined
  readonly messages: readonly UiMessage[]
  readonly trigger: 'submit-message' | 'regenerate-message'
  readonly messageId?: string | undefined
  readonly [setting: string]: unknown
}

interface Asked {
  /** The version of the SDK that the client asks for. */
  readonly v?: Version | undefined
}

interface AskedPart extends Asked {
  /** The index of the first chunk; a negative one counts from the end. */
  readonly startIndex?: number | undefined
}

/** The routes of the AI SDK. */
export interface AiSdk {
  /** Starts a run, or passes decisions or input to the run that waits for them, and streams the answer. */
  send(call: ChatCall, body: AiSdkRequestBody, asked: Asked): Promise<Response | Reply>
  /**
   * Streams the newest answer of the chat, or the response of that name, again, then live; 204 if there is nothing to
   * follow.
   */
  stream(call: ChatCall, chatId: string, asked: AskedPart): Promise<Response | Reply>
  messages(call: ChatCall, chatId: string): Promise<readonly UiMessage[]>
  /** A page of the messages that wait for the agent. */
  queue(call: ChatCall, chatId: string, page: PageQuery): Promise<Page<QueuedMessageResource>>
  /** Aborts the active run of the chat, or the run of the response of that name; 204 if there is none. */
  stop(call: ChatCall, chatId: string): Promise<Reply>
}

const NO_CONTENT: Reply = { status: 204 }

export function createAiSdk(deps: AiSdkDeps): AiSdk {
  const { targets, clock, startRun, resumeRun, abortRun, replayEndedMs } = deps
  // Of concurrent requests with one message, the first starts the turn.
  const perMessage = createKeyedMutex()

  const chatOf = async ({ agentId, principal, visibility }: ChatCall, chatId: string, member = 'chatId') => {
    const target = offeredAgent(targets, agentId, 'aiSdk')
    const sessionId = await agentChatSessionId(deps, principal, { agentId, chatId, member })
    const chat = { agentId, sessionId, visibility }
    const working = async () => (await workingRun(deps, chat)) ?? newestRun(deps, chat)
    return { target, sessionId, chat, newest: () => newestRun(deps, chat), working }
  }

  const { open, openFrom, newestQuestion } = createOpenResponse(deps)

  /** The run of a response of this agent. @throws PerdureError `run-not-found` */
  const findNamed = async ({ agentId, visibility }: ChatCall, { runId }: NamedResponse): Promise<RunRecord> => {
    offeredAgent(targets, agentId, 'aiSdk')
    const run = await deps.runs.find(runId, visibility)
    if (run === undefined || run.kind !== 'agent' || run.targetId !== agentId) throw perdureError('run-not-found')
    return run
  }

  const streamNamed = async (call: ChatCall, named: NamedResponse, { v, startIndex }: AskedPart): Promise<Response> => {
    const run = await findNamed(call, named)
    const response = { ...named, version: v ?? named.version }
    if (startIndex !== undefined) return openFrom(call, run, { ...response, startIndex })
    return open(call, { ...response, sessionId: run.sessionId, isCompact: true })
  }

  const streamChat = async (call: ChatCall, chatId: string, { v, startIndex }: AskedPart) => {
    const { sessionId, working } = await chatOf(call, chatId)
    const run = await working()
    const isOver = run?.completedAt !== undefined && run.completedAt + replayEndedMs < clock.now()
    if (run === undefined || isOver) return startIndex === undefined ? NO_CONTENT : nothingToFollow()
    // Only `WorkflowChatTransport` sends an index.
    if (startIndex !== undefined) {
      const after = await newestQuestion(call, run)
      return openFrom(call, run, { runId: run.id, version: v ?? 'workflow', after, startIndex })
    }
    return open(call, { runId: run.id, sessionId, version: v ?? '6', isCompact: true })
  }

  const start = async (call: ChatCall, body: SentChat, version: Version): Promise<Response | Reply> => {
    const { target, sessionId, chat: shown } = await chatOf(call, body.id, 'body.id')
    const last = newMessages(body.messages).at(-1)
    if (last === undefined) throw nothingToDo()
    const reply = await perMessage(`${sessionId} ${last.id}`, async (): Promise<Reply> => {
      const { principal } = call
      const claim = await messageKey(deps, call, { body, last })
      const key = call.key === undefined ? claim : { ...call.key, claim }
      const repeated = async (): Promise<Reply | undefined> => {
        const earlier = isReplacing(body) ? undefined : await sentBefore(deps, shown, { message: last, principal, key })
        return earlier === undefined ? undefined : { status: 200, runId: earlier, replayed: true }
      }
      return (
        (await repeated()) ??
        startTurn({ ...call, key }, body, { last, target, shown }).catch(async (error: unknown) => {
          // Meanwhile, another server has started a turn with this message, or with another one of its id.
          const earlier = isRefusal(error) && error.code === 'idempotency-conflict' ? await repeated() : undefined
          if (earlier === undefined) throw error
          return earlier
        })
      )
    })
    const { runId, replayed } = reply
    return runId === undefined ? reply : open(call, { runId, sessionId, version, replayed })
  }

  const startTurn = async (call: ChatCall, body: SentChat, { last, target, shown }: Turn): Promise<Reply> => {
    const { agentId, principal, traceparent, key } = call
    const { sessionId } = shown
    const replaced = await replacedTurn(deps, shown, body)
    const asked =
      replaced?.earlier === undefined
        ? await unsentMessages(deps, shown, {
            ...{ messages: newMessages(body.messages), member: MESSAGE_REF, replacedId: replaced?.id },
          })
        : [...replaced.earlier, last]
    const onBusy = onBusyIn(last.metadata, 'metadata of the last message')
    const messages = await withStoredFiles(deps, asked.map(toChatMessage), { principal, isChat: true })
    const chat = chatInput(deps, messages, settingsOf(body), chatTools(body.tools))
    const input = await targetInput(target, chat)
    return startRun({
      target: { kind: 'agent', id: agentId },
      body: {
        ...{ input, sessionId, replaces: replaced?.id, onBusy },
        metadata: { [PROTOCOL]: 'ai-sdk', [MESSAGE_REF]: last.id.slice(0, MAX_METADATA) },
      },
      newSession: { metadata: { [EXTERNAL_ID]: body.id.slice(0, MAX_METADATA) } },
      ...{ principal, traceparent, key, answer: 'accepted' },
    })
  }

  /** Passes the answers that the last message holds, and follows the run that they continue. */
  const answer = async (call: ChatCall, { last, sessionId, version }: Answering): Promise<Response> => {
    const asking = await deps.runs.find(runIdIn(last.id) ?? '', call.visibility)
    const isOfAgent = asking?.kind === 'agent' && asking.targetId === call.agentId
    const isOfChat = isOfAgent && asking.sessionId === sessionId && asking.parentRunId === undefined
    const results = isOfChat ? toolResultsIn(last) : []
    const answers = { decisions: decisionsIn(last), results, runId: asking?.id }
    const via = { protocol: 'ai-sdk', ref: last.id }
    const answered = await passAnswers(deps, { ...call, sessionId, via }, answers)
    if (answered === undefined) throw nothingToDo()
    const { runId, ids } = answered
    return open(call, { runId, sessionId, version, after: { ids: [...ids] } })
  }

  const continueWith = async (call: ChatCall, run: RunRecord, chat: ChatInput & { readonly ref: string }) => {
    const { principal, visibility, key } = call
    const { text, messages, ref } = chat
    const via = { protocol: 'ai-sdk', ref }
    const request = { runId: run.id, payload: { text, messages }, principal, visibility, via }
    if (awaitsResume(run)) await resumeRun({ ...request, key, answer: 'accepted' })
  }

  return {
    async send(call, sent, { v }) {
      // Only `WorkflowChatTransport` leaves out the id.
      const version = v ?? (sent.id === undefined ? 'workflow' : '6')
      const body = { ...sent, id: await chatOfMessages(deps, call, sent) }
      const { sessionId, newest } = await chatOf(call, body.id, 'body.id')
      const last = body.messages.at(-1)
      if (last?.role === 'assistant' && body.trigger === 'submit-message') {
        return answer(call, { last, sessionId, version })
      }
      const run = isReplacing(body) ? undefined : await newest()
      if (run === undefined || last === undefined || !(await takesInput(deps, run, last.id))) {
        return start(call, body, version)
      }
      const owner = { principal: call.principal, isChat: true, sessionId }
      const asked = newMessages(body.messages).map(toChatMessage)
      const chat = chatInput(deps, await withStoredFiles(deps, asked, owner))
      await continueWith(call, run as RunRecord, { ...chat, ref: last.id })
      return open(call, { runId: run.id, sessionId, version, after: { ref: last.id } })
    },
    async stream(call, chatId, asked) {
      const named = parseResponseName(chatId)
      return named === undefined ? streamChat(call, chatId, asked) : streamNamed(call, named, asked)
    },
    async messages(call, chatId) {
      const { chat } = await chatOf(call, chatId)
      return chatHistory(deps, chat)
    },
    async queue(call, chatId, page) {
      const { agentId: targetId, sessionId, visibility } = (await chatOf(call, chatId)).chat
      const filter = { kind: 'agent', targetId, sessionId, isTurn: true, statuses: ['queued'] } as const
      const { items, nextCursor } = await deps.runs.list(filter, { ...page, content: ['input'] }, visibility)
      return { items: items.map(toQueuedMessage), nextCursor }
    },
    async stop(call, chatId) {
      const { principal, visibility, key } = call
      const named = parseResponseName(chatId)
      const run = named === undefined ? await (await chatOf(call, chatId)).working() : await findNamed(call, named)
      if (run === undefined || isTerminal(run.status)) return { status: 204 }
      const via = { protocol: 'ai-sdk' }
      return abortRun({ runId: run.id, reason: 'stopped by the client', principal, visibility, key, via })
    },
  }
}

interface Turn {
  readonly last: UiMessage
  readonly target: RunTarget
  readonly shown: ChatRuns
}

interface Answering {
  readonly last: UiMessage
  readonly sessionId: string
  readonly version: Version
}

/** A request whose chat is known. */
type SentChat = AiSdkRequestBody & { readonly id: string }

/** A message that replaces another one has no key, because it can have the same id. */
function messageKey(
  deps: AiSdkDeps,
  call: ChatCall,
  { body, last }: { readonly body: SentChat; readonly last: UiMessage },
): Promise<KeyedRequest | undefined> | undefined {
  if (isReplacing(body) || last.id === '') return undefined
  return clientKey(deps, call, { route: 'chat', chatId: body.id, ref: last.id, content: { parts: last.parts } })
}

const KNOWN: readonly string[] = ['id', 'messages', 'trigger', 'messageId', 'tools']

const settingsOf = (body: AiSdkRequestBody) =>
  Object.fromEntries(Object.entries(body).filter(([member]) => !KNOWN.includes(member)))

const nothingToDo = () =>
  perdureError('validation-failed', {
    message: 'body.messages: the last message is neither a new message of the user nor an answer to an open approval',
    hint: 'to follow a run that is answering, use GET /agents/:agentId/chat/:chatId/stream',
  })
