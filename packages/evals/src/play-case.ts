import { type AgentRegistration, answerText, observedRuns, type RecordedRun, recordingOf } from '@perdure/core'
import { openChat, runAgent, type TestChat, type TestRun } from '@perdure/server-app/testing'
import type { EvalDefinition } from './define-eval.ts'
import type { ChatState, Decision, EvalCase, Trial, Turn } from './trial.ts'

/** Plays a case once with the agent of the eval, in memory. */
export async function playCase(definition: EvalDefinition, evalCase: EvalCase): Promise<Trial> {
  const { agent: given, options } = definition
  const agent = typeof given === 'function' ? await given(evalCase) : given
  const isChat = evalCase.turns !== undefined || evalCase.user !== undefined
  return isChat ? playChat(agent, evalCase, options) : playRun(agent, evalCase, options)
}

type Options = EvalDefinition['options']

async function playRun(agent: AgentRegistration, evalCase: EvalCase, { sdk: _, ...options }: Options): Promise<Trial> {
  let run = (await runAgent(agent as never, evalCase.input as never, options as never)) as TestRun
  for (;;) {
    const open = run.approvals.find(({ name }) => evalCase.decisions?.[name] !== undefined)
    if (run.status !== 'suspended' || open === undefined) break
    run = await run.decide(open.name, decisionOf(evalCase.decisions?.[open.name]))
  }
  const recording = recordingOf(headOf(run, evalCase.input), run.events)
  const error = run.outcome.error?.message
  return {
    ...observedRuns([recording]),
    case: evalCase,
    text: answerText(run.result, recording),
    waitingFor: run.approvals.map(({ name }) => name),
    result: run.result,
    status: run.status,
    error,
  }
}

async function playChat(agent: AgentRegistration, evalCase: EvalCase, options: Options): Promise<Trial> {
  const chat = (await openChat(agent, options)) as TestChat
  const { turns = [], user, maxTurns = 10 } = evalCase
  for (const turn of turns) await take(chat, turn, evalCase)
  for (let played = 0; user !== undefined && played < maxTurns; played++) {
    const turn = await user(stateOf(chat, turns.length + played))
    if (turn === undefined) break
    await take(chat, turn, evalCase)
  }
  const runs = await chat.runs()
  const recordings = runs.map((run) => recordingOf(headOf(run, run.input), run.events))
  const last = runs.at(-1)
  const error = chat.error?.message ?? last?.error?.message
  return {
    ...observedRuns(recordings),
    case: evalCase,
    waitingFor: chat.waitingFor,
    ...{ text: chat.text, result: last?.result, status: last?.status ?? 'not started', error },
  }
}

/** Acts as the user, and decides what then waits for a decision that the case knows. */
async function take(chat: TestChat, turn: Turn, { decisions = {} }: EvalCase): Promise<void> {
  await act(chat, turn)
  for (;;) {
    const tool = chat.waitingFor.find((name) => decisions[name] !== undefined)
    if (tool === undefined) return
    const { approved, reason } = decisionOf(decisions[tool])
    await (approved ? chat.approve(tool) : chat.deny(tool, reason))
  }
}

function act(chat: TestChat, turn: Turn): Promise<void> {
  if (typeof turn === 'string') return chat.send(turn)
  if ('send' in turn) return chat.send(turn.send, turn.files)
  if ('approve' in turn) return chat.approve(turn.approve)
  if ('deny' in turn) return chat.deny(turn.deny, turn.reason)
  if ('edit' in turn) return chat.edit(turn.edit)
  return 'advance' in turn ? chat.advance(turn.advance) : chat.regenerate()
}

const decisionOf = (decision: Decision | undefined): { readonly approved: boolean; readonly reason?: string } =>
  typeof decision === 'object' ? decision : { approved: decision === true }

const stateOf = (chat: TestChat, turn: number): ChatState => ({
  turn,
  text: chat.text,
  waitingFor: chat.waitingFor,
  said: chat.messages.map(({ role, parts }) => ({
    by: role === 'user' ? 'user' : 'agent',
    text: parts.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join(''),
  })),
})

interface Ended extends Pick<TestRun, 'runId' | 'status' | 'result' | 'usage'> {}

const headOf = ({ runId, status, result, usage }: Ended, input: unknown): RecordedRun => ({
  id: runId,
  target: { kind: 'agent', id: 'eval' },
  ...{ input, status, usage, createdAt: '' },
  ...(result === undefined ? {} : { result }),
})
