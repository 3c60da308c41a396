import type { LogEvent } from '@perdure/core'
import {
  awaitsResume,
  clientToolCalls,
  type Reply,
  type ResumeRun,
  type RunTargets,
  type SentToolResult,
  type StartRun,
} from '@perdure/core'
import { EVERY_ROW, fromJsonText, type ListedRun, perdureError, type RunRecord } from '@perdure/ports'
import { type AwaitedInputDeps, takesInput, viaIn } from '../chat/awaited-input.ts'
import type { ChatCall, OpenProjectedStream } from '../chat/chat-call.ts'
import { type ChatHistory, type HistoryDeps, readHistory } from '../chat/chat-history.ts'
import { chatInput, chatTools, messagesIn, offeredNames, targetInput } from '../chat/chat-input.ts'
import {
  agentChatSessionId,
  EXTERNAL_ID,
  MAX_METADATA,
  MESSAGE_ID,
  MESSAGE_REF,
  newestRun,
  newestRuns,
  PROTOCOL,
  refuseUnreachable,
  turnWith,
} from '../chat/chat-session.ts'
import { type ClientKeyDeps, clientKey } from '../chat/client-key.ts'
import { offeredAgent } from '../chat/offered-agent.ts'
import { onBusyIn } from '../chat/on-busy.ts'
import { type DecideDeps, isAnswerTo, passAnswers, rootInChat, type SentAnswers } from '../chat/pass-answers.ts'
import { type StoredFilesDeps, withStoredFiles } from '../chat/stored-files.ts'
import { unsentMessages } from '../chat/unsent-messages.ts'
import { sentResumes } from './decisions.ts'
import { errorStream } from './error-stream.ts'
import type { AgUiMessage } from './message.ts'
import { createAgUiProjector } from './projector.ts'
import { type AgUiRequestBody, asked, newMessages, toAgUiMessage, toChatMessage, toolResultsIn } from './request.ts'

export interface AgUiDeps extends HistoryDeps, DecideDeps, ClientKeyDeps, StoredFilesDeps {
  readonly targets: RunTargets
  readonly approvals: AwaitedInputDeps['approvals'] & DecideDeps['approvals']
  readonly runs: HistoryDeps['runs']
  readonly startRun: StartRun
  readonly resumeRun: ResumeRun
  readonly openProjectedStream: OpenProjectedStream
}

/** The routes of AG-UI. */
export interface AgUi {
  /** Starts a run, follows one that the client has started before, or answers the interrupts of one. */
  run(call: ChatCall, body: AgUiRequestBody): Promise<Response | Reply>
  /** Streams a run again: the frames after the cursor, or first what it has shown so far. */
  connect(call: ChatCall, runId: string): Promise<Response>
}

const LIMIT = 100

export function createAgUi(deps: AgUiDeps): AgUi {
  const { targets, startRun, resumeRun } = deps

  const open = async (call: ChatCall, body: AgUiRequestBody, { run, sessionId, start, history }: Opening) => {
    const { agentId, principal, hangUp, place, lastEventId, visibility } = call
    const { threadId, runId: clientRunId } = body
    const { input } = (await deps.runs.find(run, visibility)) ?? {}
    const view = {
      ...{ runId: run, agentId, sessionId, threadId, clientRunId },
      offered: input === undefined ? new Set<string>() : offeredNames(fromJsonText(input)),
      performed: new Set(toolResultsIn(body.messages).map(({ toolCallId }) => toolCallId)),
      history: history?.messages ?? asked(body.messages),
      rest: history?.rest,
    }
    const project = () => createAgUiProjector(view)
    // What a client sent itself is part of its frames, so only readers of stored messages share them.
    const form = `ag-ui ${JSON.stringify([threadId, clientRunId, history?.messages.map(({ id }) => id)])}`
    return deps.openProjectedStream({
      ...{ runId: run, target: { kind: 'agent', id: agentId }, visibility, hangUp, place, lastEventId, start },
      ...{ projector: project(), sharing: history === undefined ? undefined : { form, renew: project } },
      tokenId: principal.tokenId,
      headers: { 'X-Perdure-Run-Id': run },
    })
  }

  const start = async (call: ChatCall, body: AgUiRequestBody, sessionId: string): Promise<Response | Reply> => {
    const { agentId, principal, traceparent } = call
    const target = targets.get('agent', agentId)
    const sent = newMessages(body.messages).map(toChatMessage)
    const onBusy = onBusyIn(body.forwardedProps, 'forwardedProps')
    if (sent.length === 0) return refuse(body, 'nothing-to-do', 'the request has no new message and resumes nothing')
    const id = sent.at(-1)?.id?.slice(0, MAX_METADATA) ?? ''
    const remembered: Readonly<Record<string, string>> = id === '' ? {} : { [MESSAGE_ID]: id }
    const thread = { agentId, sessionId, visibility: call.visibility }
    // A client that sends a message again wants another answer to it.
    const replaces = id === '' ? undefined : (await turnWith(deps, thread, remembered))?.id
    const unsent = await unsentMessages(deps, thread, { messages: sent, member: MESSAGE_ID, replacedId: replaces })
    const messages = await withStoredFiles(deps, unsent, { principal, isChat: true })
    const chat = { ...chatInput(deps, messages, {}, chatTools(body.tools)), ...offeredBy(body) }
    const input = await targetInput(target, chat)
    const reply = await startRun({
      target: { kind: 'agent', id: agentId },
      body: {
        ...{ input, sessionId, replaces, onBusy },
        metadata: {
          ...{ [PROTOCOL]: 'ag-ui', [MESSAGE_REF]: body.runId.slice(0, MAX_METADATA) },
          ...remembered,
        },
      },
      newSession: { metadata: { [EXTERNAL_ID]: body.threadId.slice(0, MAX_METADATA) } },
      key: call.key ?? (await runKey(deps, call, body)),
      ...{ principal, traceparent, answer: 'accepted' },
    })
    return reply.runId === undefined ? reply : open(call, body, { run: reply.runId, sessionId, start: 'first' })
  }

  const resume = async (call: ChatCall, body: AgUiRequestBody, { newest, sessionId }: Thread) => {
    const { agentId, principal, visibility, key } = call
    const offered = newest === undefined ? new Set<string>() : offeredNames(fromJsonText(newest.input))
    const sent = await sentResumes(
      deps,
      { run: newest, resumes: body.resume ?? [], results: toolResultsIn(body.messages), offered },
      async (approval) => (await rootInChat(deps, approval, { visibility, sessionId, agentId })) !== undefined,
    )
    if ('refusal' in sent) return refuse(body, ...sent.refusal)
    const via = { protocol: 'ag-ui', ref: body.runId }
    if ('input' in sent) {
      const isOpen = newest !== undefined && awaitsResume(newest as RunRecord)
      const request = { payload: sent.input, principal, visibility, key, via, answer: 'accepted' } as const
      if (isOpen) await resumeRun({ runId: newest.id, ...request })
      const isResumption = (event: LogEvent) => event.type === 'run.resumed' && viaIn(event.payload) === body.runId
      return open(call, body, { run: newest?.id ?? '', sessionId, start: isOpen ? isResumption : 'now' })
    }
    return answer(call, body, { sessionId, sent: { ...sent, runId: newest?.id }, via })
  }

  const answer = async (call: ChatCall, body: AgUiRequestBody, { sessionId, sent, via }: Answering) => {
    const answered = await passAnswers(deps, { ...call, sessionId, via }, sent)
    if (answered === undefined) return refuse(body, 'approval-not-found', 'the thread has no such interrupt')
    const { runId, ids, isNew } = answered
    return open(call, body, { run: runId, sessionId, start: isNew ? isAnswerTo(ids) : 'now' })
  }

  return {
    async run(call, body) {
      offeredAgent(targets, call.agentId, 'agUi')
      const refusal = refusalOf(body)
      if (refusal !== undefined) return refuse(body, ...refusal)
      const { agentId, visibility, principal } = call
      refuseUnreachable(body.runId, 'body.runId')
      const chat = { agentId, chatId: body.threadId, member: 'body.threadId' }
      const sessionId = await agentChatSessionId(deps, principal, chat)
      const runs = await newestRuns(deps, { agentId, sessionId, visibility }, LIMIT)
      const newest = await newestRun(deps, { agentId, sessionId, visibility })
      if (body.resume !== undefined && body.resume.length > 0) return resume(call, body, { newest, sessionId })
      const known = runs.find(({ metadata }) => metadata[MESSAGE_REF] === body.runId)
      if (known !== undefined) return open(call, body, { run: known.id, sessionId, start: 'now' })
      if (newest === undefined) return start(call, body, sessionId)
      const results = toolResultsIn(body.messages)
      if (await hasCalled(deps, newest, results)) {
        const via = { protocol: 'ag-ui', ref: body.runId }
        return answer(call, body, { sessionId, sent: { decisions: [], results, runId: newest.id }, via })
      }
      if (await takesInput(deps, newest, body.runId)) {
        const sent = newMessages(body.messages).map(toChatMessage)
        const owner = { principal: call.principal, isChat: true, sessionId }
        const input = chatInput(deps, await withStoredFiles(deps, sent, owner))
        return resume(call, { ...body, resume: [inputResume(newest.id, input)] }, { newest, sessionId })
      }
      if (await hasOpenInterrupts(deps, newest)) {
        const problem = 'the run of the thread waits for decisions or tool results: send them in resume'
        return refuse(body, 'interrupts-open', problem)
      }
      return start(call, body, sessionId)
    },
    async connect(call, runId) {
      const { agentId, visibility } = call
      offeredAgent(targets, agentId, 'agUi')
      const run = await findRun(deps, call, runId)
      if (run === undefined) throw perdureError('run-not-found')
      const { sessionId = '' } = run
      const history = await historyBefore(deps, run, visibility)
      const session = sessionId === '' ? undefined : await deps.sessions.find(sessionId, EVERY_ROW)
      const threadId = session?.metadata[EXTERNAL_ID] ?? sessionId
      const clientRunId = run.metadata[MESSAGE_REF] ?? run.id
      const body = { threadId, runId: clientRunId, messages: [] }
      return open(call, body, { run: run.id, sessionId, start: 'now', history })
    },
  }
}

/** A client that reconnects before its first request is stored repeats the run id, with more messages and another state. */
const runKey = (deps: ClientKeyDeps, call: ChatCall, { threadId, runId }: AgUiRequestBody) =>
  clientKey(deps, call, { route: 'ag-ui', chatId: threadId, ref: runId, content: {} })

/** What the client passes to the agent besides the messages and the tools. */
const offeredBy = ({ state, context, forwardedProps: settings }: AgUiRequestBody): object =>
  Object.fromEntries(Object.entries({ state, context, settings }).filter(([, value]) => !isEmpty(value)))

interface Opening {
  readonly run: string
  readonly sessionId: string
  readonly start: 'first' | 'now' | ((event: LogEvent) => boolean)
  readonly history?: ChatHistory<AgUiMessage>
}

interface Thread {
  readonly newest: ListedRun | undefined
  readonly sessionId: string
}

interface Answering {
  readonly sessionId: string
  readonly sent: SentAnswers
  readonly via: { readonly protocol: string; readonly ref: string }
}

const refuse = (body: AgUiRequestBody, code: string, message: string): Response => errorStream(body, { code, message })

const MAX_TOOLS = 100

function refusalOf({ protocolVersion, tools = [] }: AgUiRequestBody): readonly [string, string] | undefined {
  if (tools.length > MAX_TOOLS) {
    throw perdureError('body-too-large', { message: `body.tools: must have at most ${MAX_TOOLS} tools` })
  }
  if (protocolVersion === undefined || /^[01]\./.test(protocolVersion)) return undefined
  return ['protocol-version', `protocol version ${protocolVersion} is not supported: use 1.0`]
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

const inputResume = (runId: string, payload: unknown) =>
  ({ interruptId: `${runId}.resume`, status: 'resolved', payload }) as const

async function hasOpenInterrupts(
  deps: Pick<AgUiDeps, 'approvals' | 'steps' | 'yieldTurn'>,
  run: ListedRun,
): Promise<boolean> {
  if (run.status !== 'suspended') return false
  const { items } = await deps.approvals.list(
    { runId: run.id, status: 'pending' },
    { limit: 1, order: 'asc' },
    EVERY_ROW,
  )
  return items.length > 0 || (await clientToolCalls(deps, run.id, 'waiting')).size > 0
}

/** Whether one of the results belongs to a call of a client tool of this run. */
async function hasCalled(
  deps: Pick<AgUiDeps, 'steps' | 'yieldTurn'>,
  { id }: ListedRun,
  results: readonly SentToolResult[],
): Promise<boolean> {
  if (results.length === 0) return false
  const calls = await clientToolCalls(deps, id)
  return results.some(({ toolCallId }) => calls.has(toolCallId))
}

/** Finds a run by its own id, or by the id that the client gave it. */
async function findRun(
  { runs }: Pick<AgUiDeps, 'runs'>,
  { agentId, visibility, principal }: Pick<ChatCall, 'agentId' | 'visibility' | 'principal'>,
  runId: string,
): Promise<ListedRun | undefined> {
  const run = await runs.find(runId, visibility)
  if (run !== undefined) return run.kind === 'agent' && run.targetId === agentId ? run : undefined
  const filter = { kind: 'agent', targetId: agentId, isRoot: true, metadata: { [MESSAGE_REF]: runId } } as const
  const newest = async (owner?: string) =>
    (await runs.list({ ...filter, owner }, { limit: 1, order: 'desc' }, visibility)).items[0]
  // Any caller chooses the ids of its own runs, so a run of somebody else may have the same id.
  return (await newest(principal.subject)) ?? newest()
}

/** The messages of the earlier runs, oldest first, and those that started this run. */
async function historyBefore(
  deps: HistoryDeps,
  run: ListedRun,
  visibility: ChatCall['visibility'],
): Promise<ChatHistory<AgUiMessage>> {
  const { targetId: agentId, sessionId } = run
  if (sessionId === undefined) return { messages: questionsOf(run) }
  const { messages, rest } = await readHistory<AgUiMessage>(
    deps,
    { agentId, sessionId, visibility },
    {
      select: (runs) => runs.filter(({ createdAt }) => createdAt < run.createdAt),
      questions: questionsOf,
      outline: ({ id }, content) => (content === '' ? [] : [{ id: `${id}.result`, role: 'assistant', content }]),
      answers: ({ id: runId }) =>
        createAgUiProjector({ runId, agentId, sessionId, threadId: '', clientRunId: '', history: [] }),
    },
  )
  return { messages: [...messages, ...questionsOf(run)], ...(rest === undefined ? {} : { rest }) }
}

const questionsOf = ({ id, input }: ListedRun): readonly AgUiMessage[] =>
  messagesIn(fromJsonText(input)).map((message, index) => toAgUiMessage(message, `${id}.user.${index}`))
