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
  const decisions = decisionsOf(evalCase)
  while (run.status === 'suspended') {
    const next = decisions.next(run.approvals.map(({ name }) => name))
    if (next === undefined) break
    run = await run.decide(next.name, next.decision)
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
  const decisions = decisionsOf(evalCase)
  for (const turn of turns) await take(chat, turn, decisions)
  for (let played = 0; user !== undefined && played < maxTurns; played++) {
    const turn = await user(stateOf(chat, turns.length + played))
    if (turn === undefined) break
    await take(chat, turn, decisions)
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
async function take(chat: TestChat, turn: Turn, decisions: Decisions): Promise<void> {
  await act(chat, turn)
  for (;;) {
    const next = decisions.next(chat.waitingFor)
    if (next === undefined) return
    const { approved, reason } = next.decision
    await (approved ? chat.approve(next.name) : chat.deny(next.name, reason))
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

type Decisions = ReturnType<typeof decisionsOf>

/** The decisions of a case, of which each one in a list is made once. */
function decisionsOf({ decisions = {} }: EvalCase) {
  const made = new Map<string, number>()
  const nextOf = (name: string): Decision | undefined => {
    const given = decisions[name]
    return isList(given) ? given[made.get(name) ?? 0] : given
  }
  return {
    /** The next decision on one of the approvals that wait, given by their names. */
    next(waiting: readonly string[]) {
      const name = waiting.find((one) => nextOf(one) !== undefined)
      const decision = name === undefined ? undefined : nextOf(name)
      if (name === undefined || decision === undefined) return undefined
      made.set(name, (made.get(name) ?? 0) + 1)
      return { name, decision: typeof decision === 'boolean' ? { approved: decision } : decision }
    },
  }
}

const isList = (given: Decision | readonly Decision[] | undefined): given is readonly Decision[] => Array.isArray(given)

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
