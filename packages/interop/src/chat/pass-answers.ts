import { clientToolCalls, fieldsOf, type LogEvent, type SentToolResult } from '@perdure/core'
import {
  type ApprovalRecord,
  type ApprovalStore,
  EVERY_ROW,
  type RunStore,
  type StepStore,
  type YieldTurn,
} from '@perdure/ports'
import { isOpenApproval } from '@perdure/protocol'
import { type AnswerRunDeps, answerRun, type Decider, type RunDecision } from './answer-run.ts'
import { checkMembers } from './chat-input.ts'

export interface SentDecision {
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
}

export interface DecideDeps extends AnswerRunDeps {
  readonly approvals: Pick<ApprovalStore, 'find'>
  readonly runs: Pick<RunStore, 'find'>
  readonly steps: Pick<StepStore, 'listBriefly'>
  readonly yieldTurn: YieldTurn
}

/** A chat: the runs of one agent in one session. */
interface Chat extends Pick<Decider, 'visibility'> {
  /** `undefined` for runs without a session. */
  readonly sessionId: string | undefined
  /** Missing if the caller has checked the right to the run by other means. */
  readonly agentId?: string | undefined
}

type Deciding = Decider & Chat

/** What the client answers: decisions on approvals, and results of tools that it has performed for a run. */
export interface SentAnswers {
  readonly decisions: readonly SentDecision[]
  readonly results?: readonly SentToolResult[]
  /** The run that asked for the results; results of other calls are ignored. */
  readonly runId?: string | undefined
}

export interface Answered {
  /** The run of the chat that continues. */
  readonly runId: string
  /** The approvals and tool calls of this chat that the client answers now: not the earlier ones that it repeats. */
  readonly ids: ReadonlySet<string>
  /** Whether one of them was open. */
  readonly isNew: boolean
}

/**
 * Passes answers of the client to the runs of a chat that wait for them. An answer that somebody else gave meanwhile
 * stands. Approvals and tool calls of other chats are ignored; `undefined` if there are no others.
 *
 * @throws PerdureError `scope-denied` if the caller may not decide one of the approvals
 */
export async function passAnswers(
  deps: DecideDeps,
  { principal, visibility, sessionId, agentId, via }: Deciding,
  sent: SentAnswers,
): Promise<Answered | undefined> {
  const matched = [
    ...(await matchDecisions(deps, { visibility, sessionId, agentId }, sent.decisions)),
    ...(await matchResults(deps, sent)),
  ]
  const [first] = matched
  if (first === undefined) return undefined
  const open = matched.filter(({ isOpen }) => isOpen)
  for (const { result } of open) checkMembers(result, 'the results of the tools')
  for (const runId of new Set(open.map((one) => one.runId))) {
    const ofRun = open.filter((one) => one.runId === runId)
    const decisions = ofRun.flatMap(({ decision }) => (decision === undefined ? [] : [decision]))
    const results = ofRun.flatMap(({ result }) => (result === undefined ? [] : [result]))
    await answerRun(deps, { principal, visibility, via }, runId, { decisions, results })
  }
  return { runId: first.rootId, ids: newestIds(matched), isNew: open.length > 0 }
}

/** Clients send the results of their tools again with every later answer, but a decision only once. */
function newestIds(matched: readonly Matched[]): ReadonlySet<string> {
  const current = matched.filter(({ isOpen, decision }) => isOpen || decision !== undefined)
  return new Set((current.length > 0 ? current : matched.slice(-1)).map(({ id }) => id))
}

/** An answer to something that a run of the chat has asked. */
interface Matched {
  readonly id: string
  /** The run that asked, and the run of the chat that it belongs to. */
  readonly runId: string
  readonly rootId: string
  readonly isOpen: boolean
  readonly decision?: RunDecision
  readonly result?: SentToolResult
}

async function matchDecisions(
  deps: DecideDeps,
  chat: Chat,
  decisions: readonly SentDecision[],
): Promise<readonly Matched[]> {
  const matched: Matched[] = []
  for (const { approvalId, ...decision } of decisions) {
    const approval = await deps.approvals.find(approvalId, EVERY_ROW)
    const rootId = approval === undefined ? undefined : await rootInChat(deps, approval, chat)
    if (approval === undefined || rootId === undefined) continue
    const { id, runId, status } = approval
    matched.push({ id, runId, rootId, isOpen: isOpenApproval(status), decision: { approval, ...decision } })
  }
  return matched
}

async function matchResults(
  deps: Pick<DecideDeps, 'steps' | 'yieldTurn'>,
  { results = [], runId }: SentAnswers,
): Promise<readonly Matched[]> {
  if (runId === undefined || results.length === 0) return []
  const calls = await clientToolCalls(deps, runId)
  return results.flatMap((result) => {
    const call = calls.get(result.toolCallId)
    const isOpen = call?.status === 'waiting'
    return call === undefined ? [] : [{ id: result.toolCallId, runId, rootId: runId, isOpen, result }]
  })
}

/** Whether the event reports an answer to one of these approvals or tool calls. */
export const isAnswerTo =
  (ids: ReadonlySet<string>) =>
  (event: LogEvent): boolean => {
    const { approvalId, toolCallId } = fieldsOf(event)
    if (event.type === 'tool.result') return ids.has(String(toolCallId))
    return (event.type === 'approval.resolved' || event.type === 'approval.expired') && ids.has(String(approvalId))
  }

const MAX_DEPTH = 32

/** The run of the chat that asks for the approval itself or through its children. */
export async function rootInChat(
  { runs }: Pick<DecideDeps, 'runs'>,
  { runId }: ApprovalRecord,
  { visibility, sessionId, agentId }: Chat,
): Promise<string | undefined> {
  let next: string | undefined = runId
  for (let depth = 0; next !== undefined && depth < MAX_DEPTH; depth++) {
    const run: Awaited<ReturnType<RunStore['find']>> = await runs.find(next, visibility)
    if (run === undefined) return undefined
    const isOfAgent = agentId === undefined || (run.kind === 'agent' && run.targetId === agentId)
    if (isOfAgent && run.sessionId === sessionId && run.parentRunId === undefined) return run.id
    next = run.parentRunId
  }
  return undefined
}
