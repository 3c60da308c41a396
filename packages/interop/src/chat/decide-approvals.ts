import { type ApprovalRecord, type ApprovalStore, EVERY_ROW, type RunStore } from '@perdure/ports'
import { fieldsOf, type LogEvent } from '../fold/log-event.ts'
import { type DecideRunDeps, type Decider, decideRun, type RunDecision } from './decide-run.ts'

export interface SentDecision {
  readonly approvalId: string
  readonly granted: boolean
  readonly reason?: string
}

export interface DecideDeps extends DecideRunDeps {
  readonly approvals: Pick<ApprovalStore, 'find'>
  readonly runs: Pick<RunStore, 'find'>
}

interface Deciding extends Decider {
  readonly sessionId: string
}

export interface Decided {
  /** The run of the chat that continues. */
  readonly runId: string
  /** The approvals of this chat that the client has answered. */
  readonly approvalIds: ReadonlySet<string>
  /** Whether one of them was open. */
  readonly isNew: boolean
}

/**
 * Passes decisions on approvals of a chat to the runs that wait for them. A decision that somebody else took meanwhile
 * stands. Approvals of other chats are ignored; `undefined` if there are no others.
 *
 * @throws AppError `scope-denied` if the caller may not decide one of them
 */
export async function decideApprovals(
  deps: DecideDeps,
  { principal, visibility, sessionId, via }: Deciding,
  decisions: readonly SentDecision[],
): Promise<Decided | undefined> {
  let rootId: string | undefined
  const approvalIds = new Set<string>()
  const open = new Map<string, RunDecision[]>()
  for (const { approvalId, ...decision } of decisions) {
    const approval = await deps.approvals.find(approvalId, EVERY_ROW)
    const root = approval === undefined ? undefined : await rootInChat(deps, approval, { visibility, sessionId })
    if (approval === undefined || root === undefined) continue
    rootId = root
    approvalIds.add(approval.id)
    const ofRun = open.get(approval.runId) ?? []
    if (approval.status === 'pending') open.set(approval.runId, [...ofRun, { approval, ...decision }])
  }
  if (rootId === undefined) return undefined
  for (const ofRun of open.values()) await decideRun(deps, { principal, visibility, via }, ofRun)
  return { runId: rootId, approvalIds, isNew: open.size > 0 }
}

/** Whether the event reports a decision on one of the approvals. */
export const isDecisionOn =
  (approvalIds: ReadonlySet<string>) =>
  (event: LogEvent): boolean =>
    (event.type === 'approval.resolved' || event.type === 'approval.expired') &&
    approvalIds.has(String(fieldsOf(event).approvalId))

const MAX_DEPTH = 32

/** The run of the chat that asks for the approval itself or through its children. */
export async function rootInChat(
  { runs }: Pick<DecideDeps, 'runs'>,
  { runId }: ApprovalRecord,
  { visibility, sessionId }: Pick<Deciding, 'visibility' | 'sessionId'>,
): Promise<string | undefined> {
  let next: string | undefined = runId
  for (let depth = 0; next !== undefined && depth < MAX_DEPTH; depth++) {
    const run: Awaited<ReturnType<RunStore['find']>> = await runs.find(next, visibility)
    if (run?.sessionId === sessionId && run.parentRunId === undefined) return run.id
    next = run?.parentRunId
  }
  return undefined
}
