import { type ApprovalRecord, type ApprovalStore, EVERY_ROW, type ListedRun } from '@perdure/ports'
import type { SentDecision } from '../chat/decide-approvals.ts'
import { isFields } from '../fold/log-event.ts'
import type { AgUiResume } from './request.ts'

/** What a client answers: decisions on approvals, or the input that a run has asked for. */
export type SentResume =
  | { readonly decisions: readonly SentDecision[] }
  | { readonly input: unknown }
  | { readonly refusal: readonly [code: string, message: string] }

/**
 * Reads the answers to interrupts. An interrupt is named by its approval or by its tool call. The answers must cover all
 * open approvals of the run. Only the boolean `true` grants.
 *
 * @param isOfThread whether the approval belongs to this thread; any other one is treated as if it did not exist
 */
export async function sentResumes(
  { approvals }: { readonly approvals: Pick<ApprovalStore, 'find' | 'list'> },
  run: Pick<ListedRun, 'id' | 'status'> | undefined,
  resumes: readonly AgUiResume[],
  isOfThread: (approval: ApprovalRecord) => Promise<boolean>,
): Promise<SentResume> {
  const input = resumes.find(({ interruptId }) => interruptId === `${run?.id}.resume`)
  if (input !== undefined) return { input: input.payload ?? null }
  const decisions: SentDecision[] = []
  for (const resume of resumes) {
    const approval = await approvalOf(approvals, run, resume.interruptId)
    if (approval === undefined || !(await isOfThread(approval))) {
      return { refusal: ['approval-not-found', `the thread has no interrupt ${resume.interruptId}`] }
    }
    if (approval.status === 'expired') {
      return { refusal: ['interrupt-expired', `the interrupt ${resume.interruptId} has expired`] }
    }
    const decision = decisionOf(approval.id, resume)
    if (decision === undefined) {
      return { refusal: ['validation-failed', `resume ${resume.interruptId}: payload.granted must be a boolean`] }
    }
    decisions.push(decision)
  }
  const open = await openApprovals(approvals, run)
  const missing = open.filter(({ id }) => !decisions.some(({ approvalId }) => approvalId === id))
  if (missing.length === 0) return { decisions }
  return { refusal: ['interrupts-open', `resume must also answer ${missing.map(({ id }) => id).join(', ')}`] }
}

function decisionOf(approvalId: string, { status, payload }: AgUiResume): SentDecision | undefined {
  if (status === 'cancelled') return { approvalId, granted: false, reason: 'cancelled' }
  const { granted, approved = granted, reason } = isFields(payload) ? payload : {}
  if (typeof approved !== 'boolean') return undefined
  return { approvalId, granted: approved, ...(typeof reason === 'string' ? { reason } : {}) }
}

async function approvalOf(
  approvals: Pick<ApprovalStore, 'find' | 'list'>,
  run: Pick<ListedRun, 'id'> | undefined,
  interruptId: string,
): Promise<ApprovalRecord | undefined> {
  const named = await approvals.find(interruptId, EVERY_ROW)
  if (named !== undefined || run === undefined) return named
  const filter = { runId: run.id, toolCallId: interruptId }
  return (await approvals.list(filter, { limit: 1, order: 'desc' }, EVERY_ROW)).items[0]
}

const openApprovals = async (
  approvals: Pick<ApprovalStore, 'list'>,
  run: Pick<ListedRun, 'id' | 'status'> | undefined,
): Promise<readonly ApprovalRecord[]> =>
  run?.status === 'suspended'
    ? (await approvals.list({ runId: run.id, status: 'pending' }, { limit: 200, order: 'asc' }, EVERY_ROW)).items
    : []
