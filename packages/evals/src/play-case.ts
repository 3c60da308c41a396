import { type AgentRegistration, type RecordedRun, type RunRecording, recordingOf } from '@perdure/core'
import { openChat, runAgent, type TestChat, type TestRun } from '@perdure/server-app/testing'
import type { EvalDefinition } from './define-eval.ts'
import type { ChatState, Decision, EvalCase, ToolUse, Trial, TrialUsage, Turn } from './trial.ts'

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
    ...observed(evalCase, [recording]),
    text: textOf(run.result, recording),
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
    ...observed(evalCase, recordings),
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

function textOf(result: unknown, { calls }: RunRecording): string {
  if (typeof result === 'string') return result
  if (typeof result === 'object' && result !== null && 'text' in result && typeof result.text === 'string')
    return result.text
  const last = calls.findLast((call) => call.kind === 'model')
  return last === undefined ? '' : last.answer.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
}

/** What the recordings show of the trial. */
function observed(
  evalCase: EvalCase,
  recordings: readonly RunRecording[],
): Pick<Trial, 'case' | 'toolCalls' | 'decisions' | 'usage' | 'recordings'> {
  const calls = recordings.flatMap((recording) => recording.calls)
  return {
    case: evalCase,
    recordings,
    toolCalls: recordings.flatMap(toolUses),
    decisions: calls.flatMap((call) =>
      call.kind === 'decision' ? [{ name: call.name, decision: call.decision }] : [],
    ),
    usage: recordings.map(({ run }) => run.usage).reduce<TrialUsage>(sum, NOTHING),
  }
}

export const NOTHING: TrialUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

export const sum = (one: TrialUsage, other: TrialUsage): TrialUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  costUsd: one.costUsd + other.costUsd,
})

/** What the models asked for, with its outcomes, and the tools that the code called by itself. */
function toolUses({ calls }: RunRecording): readonly ToolUse[] {
  const outcomes = new Map(calls.flatMap((call) => (call.kind === 'tool' ? [[call.toolCallId, call] as const] : [])))
  const asked = new Set<string>()
  return calls.flatMap((call): readonly ToolUse[] => {
    if (call.kind === 'model') {
      return call.answer.flatMap((part): readonly ToolUse[] => {
        if (!('toolName' in part)) return []
        asked.add(part.toolCallId)
        const { result, error } = outcomes.get(part.toolCallId) ?? {}
        return [{ ...part, executed: outcomes.has(part.toolCallId), ...definedOf({ result, error }) }]
      })
    }
    if (call.kind !== 'tool' || asked.has(call.toolCallId)) return []
    const { toolName, toolCallId, args, result, error } = call
    return [{ toolName, toolCallId, args, executed: true, ...definedOf({ result, error }) }]
  })
}

const definedOf = ({ result, error }: Pick<ToolUse, 'result'> & { readonly error?: ToolUse['error'] | undefined }) => ({
  ...(result === undefined ? {} : { result }),
  ...(error === undefined ? {} : { error }),
})
