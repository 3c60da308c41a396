import type { LogEvent } from '@perdure/core'
import {
  awaitsResume,
  clientToolCalls,
  type KeyedRequest,
  type Reply,
  type ResumeRun,
  type RunTargets,
  type SentToolResult,
} from '@perdure/core'
import { EVERY_ROW, fromJsonText, type ListedRun, perdureError, type StreamAnswer } from '@perdure/ports'
import { type AwaitedInputDeps, takesInput, viaIn, wasResumedBy } from '../chat/awaited-input.ts'
import type { ChatCall, OpenProjectedStream } from '../chat/chat-call.ts'
import { type ChatHistory, type HistoryDeps, readHistory } from '../chat/chat-history.ts'
import { messagesIn, offeredNames } from '../chat/chat-input.ts'
import {
  agentChatSessionId,
  EXTERNAL_ID,
  MESSAGE_REF,
  messageRef,
  newestRun,
  newestRuns,
  refuseUnreachable,
} from '../chat/chat-session.ts'
import { offeredAgent } from '../chat/offered-agent.ts'
import { type DecideDeps, isAnswerTo, passAnswers, rootInChat, type SentAnswers } from '../chat/pass-answers.ts'
import { sentResumes } from './decisions.ts'
import { errorStream } from './error-stream.ts'
import type { AgUiMessage } from './message.ts'
import { newInput } from './passed-input.ts'
import { createAgUiProjector } from './projector.ts'
import { type AgUiRequestBody, asked, toAgUiMessage, toolResultsIn } from './request.ts'
import { refuseOtherMessage, runIdentity, runKey, type StartTurnDeps, startTurn } from './start-turn.ts'

export interface AgUiDeps extends HistoryDeps, DecideDeps, StartTurnDeps {
  readonly targets: RunTargets
  readonly approvals: AwaitedInputDeps['approvals'] & DecideDeps['approvals']
  readonly runs: HistoryDeps['runs']
  readonly resumeRun: ResumeRun
  readonly openProjectedStream: OpenProjectedStream
}

/** The routes of AG-UI. */
export interface AgUi {
  /** Starts a run, follows one that the client has started before, or answers the interrupts of one. */
  run(call: ChatCall, body: AgUiRequestBody): Promise<StreamAnswer | Response | Reply>
  /** Streams a run again: the frames after the cursor, or first what it has shown so far. */
  connect(call: ChatCall, runId: string): Promise<StreamAnswer>
  /** Names the run whose stream begins with the messages of the thread. */
  thread(call: ChatCall, threadId: string): Promise<Reply>
}

const LIMIT = 100

export function createAgUi(deps: AgUiDeps): AgUi {
  const { targets, resumeRun } = deps

  const open = async (call: ChatCall, body: AgUiRequestBody, { run, sessionId, start, history }: Opening) => {
    const { agentId, principal, place, lastEventId, visibility } = call
    const { threadId, runId: clientRunId } = body
    const found = await deps.runs.find(run, visibility)
    const view = {
      ...{ runId: run, agentId, sessionId, threadId, clientRunId },
      offered: offeredBy(found),
      performed: new Set(toolResultsIn(body.messages).map(({ toolCallId }) => toolCallId)),
      history: history?.messages ?? asked(body.messages),
      rest: history?.rest,
    }
    const project = () => createAgUiProjector(view)
    // What a client sent itself is part of its frames, so only readers of stored messages share them.
    const form = `ag-ui ${JSON.stringify([threadId, clientRunId, history?.messages.map(({ id }) => id)])}`
    return deps.openProjectedStream({
      ...{ runId: run, target: { kind: 'agent', id: agentId }, visibility, place, lastEventId, start },
      ...{ projector: project(), sharing: history === undefined ? undefined : { form, renew: project } },
      tokenId: principal.tokenId,
      headers: { 'X-Perdure-Run-Id': run },
    })
  }

  const start = async (
    call: ChatCall,
    body: AgUiRequestBody,
    sessionId: string,
  ): Promise<StreamAnswer | Response | Reply> => {
    const reply = await startTurn(deps, call, body, sessionId)
    if (reply === undefined) return refuse(body, 'nothing-to-do', 'the request has no new message and resumes nothing')
    return reply.runId === undefined ? reply : open(call, body, { run: reply.runId, sessionId, start: 'first' })
  }

  const resume = async (call: ChatCall, body: AgUiRequestBody, { newest, sessionId, key: inputKey }: Thread) => {
    const { agentId, principal, visibility } = call
    const offered = offeredBy(newest)
    const sent = await sentResumes(
      deps,
      { run: newest, resumes: body.resume ?? [], results: toolResultsIn(body.messages), offered },
      async (approval) => (await rootInChat(deps, approval, { visibility, sessionId, agentId })) !== undefined,
    )
    if ('refusal' in sent) return refuse(body, ...sent.refusal)
    const via = { protocol: 'ag-ui', ref: body.runId }
    if ('input' in sent) {
      const isOpen = newest !== undefined && awaitsResume(newest)
      const key = inputKey ?? (await runIdentity(deps, call, body))
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

  const continueThread = async (
    call: ChatCall,
    body: AgUiRequestBody,
    { newest, sessionId }: Thread & { readonly newest: ListedRun },
  ): Promise<StreamAnswer | Response | Reply> => {
    const results = toolResultsIn(body.messages)
    if (await hasCalled(deps, newest, results)) {
      const via = { protocol: 'ag-ui', ref: body.runId }
      return answer(call, body, { sessionId, sent: { decisions: [], results, runId: newest.id }, via })
    }
    if (await wasResumedBy(deps, newest, body.runId)) {
      return open(call, body, { run: newest.id, sessionId, start: 'now' })
    }
    if (awaitsResume(newest) && (await takesInput(deps, newest, body.runId))) {
      const { input, key } = await newInput(deps, call, body, sessionId)
      return resume(call, { ...body, resume: [inputResume(newest.id, input)] }, { newest, sessionId, key })
    }
    if (await hasOpenInterrupts(deps, newest)) {
      const problem = 'the run of the thread waits for decisions or tool results: send them in resume'
      return refuse(body, 'interrupts-open', problem)
    }
    return start(call, body, sessionId)
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
      const ref = messageRef(deps.digest, body.runId)
      const known = runs.find(({ metadata }) => metadata[MESSAGE_REF] === ref)
      const taken = known === undefined ? await deps.recall.runOf(await runKey(deps, call, body)) : undefined
      if (taken !== undefined) return open(call, body, { run: taken, sessionId, start: 'now' })
      if (body.resume !== undefined && body.resume.length > 0) return resume(call, body, { newest, sessionId })
      if (known !== undefined) {
        await refuseOtherMessage(deps, call, known.id, body)
        return open(call, body, { run: known.id, sessionId, start: 'now' })
      }
      return newest === undefined ? start(call, body, sessionId) : continueThread(call, body, { newest, sessionId })
    },
    async thread(call, threadId) {
      const { agentId, visibility, principal } = call
      offeredAgent(targets, agentId, 'agUi')
      const sessionId = await agentChatSessionId(deps, principal, {
        agentId,
        chatId: threadId,
        member: 'query.threadId',
      })
      const newest = await newestRun(deps, { agentId, sessionId, visibility })
      return { status: 200, body: { messages: [], activeRun: newest === undefined ? null : { runId: newest.id } } }
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

interface Opening {
  readonly run: string
  readonly sessionId: string
  readonly start: 'first' | 'now' | ((event: LogEvent) => boolean)
  readonly history?: ChatHistory<AgUiMessage>
}

interface Thread {
  readonly newest: ListedRun | undefined
  readonly sessionId: string
  /** The key of a request that passes messages as input. */
  readonly key?: KeyedRequest
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

/** The names of the tools that the client offered when it started the run. */
const offeredBy = (run: Pick<ListedRun, 'input'> | undefined): ReadonlySet<string> =>
  run === undefined ? new Set() : offeredNames(fromJsonText(run.input))

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
  { runs, digest }: Pick<AgUiDeps, 'runs' | 'digest'>,
  { agentId, visibility, principal }: Pick<ChatCall, 'agentId' | 'visibility' | 'principal'>,
  runId: string,
): Promise<ListedRun | undefined> {
  const run = await runs.find(runId, visibility)
  if (run !== undefined) return run.kind === 'agent' && run.targetId === agentId ? run : undefined
  const filter = {
    kind: 'agent',
    targetId: agentId,
    isRoot: true,
    metadata: { [MESSAGE_REF]: messageRef(digest, runId) },
  } as const
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
