import { authorizeOperation, type Principal, type ResolveApproval, type ResumeRun } from '@perdure/core'
import {
  AppError,
  type ApprovalRecord,
  type ApprovalStore,
  EVERY_ROW,
  type RunStore,
  type Visibility,
} from '@perdure/ports'
import { OPERATION_TABLES } from '@perdure/protocol'
import { fieldsOf, type LogEvent } from '../fold/log-event.ts'

export interface SentDecision {
  readonly approvalId: string
  readonly granted: boolean
  readonly reason?: string
}

export interface DecideDeps {
  readonly approvals: Pick<ApprovalStore, 'find'>
  readonly runs: Pick<RunStore, 'find'>
  readonly resumeRun: ResumeRun
  readonly resolveApproval: ResolveApproval
}

interface Deciding {
  readonly principal: Principal
  readonly visibility: Visibility
  readonly sessionId: string
  /** The protocol, and the id of the message or request that holds the decisions. */
  readonly via: Via
}

interface Via {
  readonly protocol: string
  readonly ref: string
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
  const open = new Map<string, SentDecision[]>()
  for (const decision of decisions) {
    const approval = await deps.approvals.find(decision.approvalId, EVERY_ROW)
    const root = approval === undefined ? undefined : await rootInChat(deps, approval, { visibility, sessionId })
    if (approval === undefined || root === undefined) continue
    rootId = root
    approvalIds.add(approval.id)
    if (approval.status === 'pending') open.set(approval.runId, [...(open.get(approval.runId) ?? []), decision])
  }
  if (rootId === undefined) return undefined
  for (const [runId, ofRun] of open) await decide(deps, { runId, principal, visibility, via }, ofRun)
  return { runId: rootId, approvalIds, isNew: open.size > 0 }
}

async function decide(
  { resumeRun, resolveApproval }: DecideDeps,
  { runId, principal, visibility, via }: Omit<Deciding, 'sessionId'> & { readonly runId: string },
  decisions: readonly SentDecision[],
): Promise<void> {
  const approvals = decisions.map(({ approvalId, ...decision }) => ({ id: approvalId, ...decision }))
  try {
    await resumeRun({ runId, approvals, principal, visibility, via, answer: 'accepted' })
  } catch (error) {
    if (isError(error, 'approval-resolved')) return
    if (!isError(error, 'run-not-suspended')) throw error
    // Other code of the run, which is a child of the one that the client sees as suspended, is still executing.
    const { subject: by, tokenId, origin } = principal
    for (const { approvalId, ...decision } of decisions) {
      const rows = authorizeOperation(principal, RESOLVE, { approvalId })
      await resolveApproval({ approvalId, ...decision, by, tokenId, origin, visibility: rows, via }).catch(passLate)
    }
  }
}

/** Whether the event reports a decision on one of the approvals. */
export const isDecisionOn =
  (approvalIds: ReadonlySet<string>) =>
  (event: LogEvent): boolean =>
    (event.type === 'approval.resolved' || event.type === 'approval.expired') &&
    approvalIds.has(String(fieldsOf(event).approvalId))

const RESOLVE = OPERATION_TABLES.approvals.resolveApproval

function passLate(error: unknown): void {
  if (!isError(error, 'approval-resolved')) throw error
}

const isError = (error: unknown, id: AppError['id']): boolean => error instanceof AppError && error.id === id

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
