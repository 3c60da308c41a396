import { authorizeOperation, type Principal } from '@perdure/core'
import {
  type ApprovalRecord,
  EVERY_ROW,
  isRefusal,
  type RunRecord,
  type RunStore,
  type Visibility,
} from '@perdure/ports'
import { OPERATION_TABLES, type Operation } from '@perdure/protocol'
import type { ChatCall } from './chat-call.ts'

/** Whether the caller may start runs of the agent or workflow. */
export function mayStart(
  principal: Principal,
  { kind, id }: { readonly kind: RunRecord['kind']; readonly id: string },
) {
  const { agents, workflows } = OPERATION_TABLES
  const operation = kind === 'agent' ? agents.runAgent : workflows.executeWorkflow
  return rowsFor(principal, operation, kind === 'agent' ? { agentId: id } : { workflowId: id }) !== undefined
}

/**
 * Finds a run that the caller may follow: one that it owns and may start again, or one that its scopes let it read. The
 * route demands no scope, so owning a run is not enough.
 */
export async function findRun(
  { runs }: { readonly runs: Pick<RunStore, 'find'> },
  { principal, visibility }: Pick<ChatCall, 'principal' | 'visibility'>,
  runId: string,
): Promise<RunRecord | undefined> {
  const run = await runs.find(runId, visibility)
  if (run === undefined || mayStart(principal, { kind: run.kind, id: run.targetId })) return run
  const readable = rowsFor(principal, OPERATION_TABLES.runs.getRun)
  return readable === undefined ? undefined : runs.find(runId, readable)
}

/** The approvals of the caller's inbox, and those of runs that it owns and may start again. */
export function approvalsFor(principal: Principal) {
  const inbox = rowsFor(principal, OPERATION_TABLES.approvals.listApprovals)
  const rows: Visibility = inbox === EVERY_ROW ? EVERY_ROW : { ...inbox, owner: principal.subject }
  const isInInbox = ({ id, owner }: ApprovalRecord) =>
    inbox === EVERY_ROW || inbox?.owner === owner || inbox?.ids?.includes(id) === true
  return {
    /** Rows that include all of them. */
    rows,
    includes: (approval: ApprovalRecord): boolean =>
      isInInbox(approval) || mayStart(principal, { kind: approval.kind, id: approval.targetId }),
  }
}

/** The rows that the caller may use in the operation; `undefined` if its scopes cover none. */
function rowsFor(
  principal: Principal,
  { scope }: Pick<Operation, 'scope'>,
  params: Readonly<Record<string, string>> = {},
): Visibility | undefined {
  try {
    return authorizeOperation(principal, { scope }, params)
  } catch (error) {
    if (isRefusal(error) && error.code === 'scope-denied') return undefined
    throw error
  }
}
