import { type AbortRun, type QueuedMessageResource, type Reply, type RunTargets, toQueuedMessage } from '@perdure/core'
import {
  type ApprovalStore,
  type Clock,
  type Page,
  type PageQuery,
  perdureError,
  type RunRecord,
  type StreamAnswer,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import type { ChatCall } from '../chat/chat-call.ts'
import type { HistoryDeps } from '../chat/chat-history.ts'
import { agentChatSessionId, newestRun, workingRun } from '../chat/chat-session.ts'
import { offeredAgent } from '../chat/offered-agent.ts'
import { type DecideDeps, passAnswers } from '../chat/pass-answers.ts'
import { chatHistory } from './chat-history.ts'
import { chatOfMessages } from './chat-of-messages.ts'
import { createOpenResponse, nothingToFollow, type OpenResponseDeps } from './open-response.ts'
import { runIdIn } from './projector.ts'
import { type NamedResponse, parseResponseName, type Version } from './response-name.ts'
import {
  type AiSdkRequestBody,
  createSendMessage,
  nothingToDo,
  type SendMessageDeps,
  type SentChat,
} from './send-message.ts'
import { decisionsIn, toolResultsIn, type UiMessage } from './ui-message.ts'

export interface AiSdkDeps extends HistoryDeps, DecideDeps, SendMessageDeps, OpenResponseDeps {
  readonly targets: RunTargets
  readonly approvals: ApprovalStore
  readonly runs: HistoryDeps['runs']
  readonly clock: Clock
  readonly abortRun: AbortRun
  readonly replayEndedMs: number
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
  send(call: ChatCall, body: AiSdkRequestBody, asked: Asked): Promise<StreamAnswer | Response | Reply>
  /**
   * Streams the newest answer of the chat, or the response of that name, again, then live; 204 if there is nothing to
   * follow.
   */
  stream(call: ChatCall, chatId: string, asked: AskedPart): Promise<StreamAnswer | Response | Reply>
  messages(call: ChatCall, chatId: string): Promise<readonly UiMessage[]>
  /** A page of the messages that wait for the agent. */
  queue(call: ChatCall, chatId: string, page: PageQuery): Promise<Page<QueuedMessageResource>>
  /** Aborts the active run of the chat, or the run of the response of that name; 204 if there is none. */
  stop(call: ChatCall, chatId: string): Promise<Reply>
}

const NO_CONTENT: Reply = { status: 204 }

export function createAiSdk(deps: AiSdkDeps): AiSdk {
  const { targets, clock, abortRun, replayEndedMs } = deps
  const sendMessage = createSendMessage(deps)

  const chatOf = async ({ agentId, principal, visibility }: ChatCall, chatId: string, member = 'chatId') => {
    const target = offeredAgent(targets, agentId, 'aiSdk')
    const sessionId = await agentChatSessionId(deps, principal, { agentId, chatId, member })
    const chat = { agentId, sessionId, visibility }
    const working = async () => (await workingRun(deps, chat)) ?? newestRun(deps, chat)
    return { target, sessionId, chat, working }
  }

  const { open, openFrom, newestQuestion } = createOpenResponse(deps)

  /** The run of a response of this agent. @throws PerdureError `run-not-found` */
  const findNamed = async ({ agentId, visibility }: ChatCall, { runId }: NamedResponse): Promise<RunRecord> => {
    offeredAgent(targets, agentId, 'aiSdk')
    const run = await deps.runs.find(runId, visibility)
    if (run === undefined || run.kind !== 'agent' || run.targetId !== agentId) throw perdureError('run-not-found')
    return run
  }

  const streamNamed = async (call: ChatCall, named: NamedResponse, { v, startIndex }: AskedPart) => {
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

  const start = async (call: ChatCall, body: SentChat, version: Version): Promise<StreamAnswer | Response | Reply> => {
    const { target, sessionId, chat: shown } = await chatOf(call, body.id, 'body.id')
    const { reply, after } = await sendMessage(call, body, { target, shown })
    const { runId, replayed } = reply
    return runId === undefined ? reply : open(call, { runId, sessionId, version, after, replayed })
  }

  /** Passes the answers that the last message holds, and follows the run that they continue. */
  const answer = async (call: ChatCall, { last, sessionId, version }: Answering): Promise<StreamAnswer> => {
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

  return {
    async send(call, sent, { v }) {
      // Only `WorkflowChatTransport` leaves out the id.
      const version = v ?? (sent.id === undefined ? 'workflow' : '6')
      const body = { ...sent, id: await chatOfMessages(deps, call, sent) }
      const last = body.messages.at(-1)
      if (last?.role !== 'assistant' || body.trigger !== 'submit-message') return start(call, body, version)
      const { sessionId } = await chatOf(call, body.id, 'body.id')
      return answer(call, { last, sessionId, version })
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

interface Answering {
  readonly last: UiMessage
  readonly sessionId: string
  readonly version: Version
}
