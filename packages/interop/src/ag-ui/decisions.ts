import { clientToolCalls, isFields, type SentToolResult } from '@perdure/core'
import {
  type ApprovalRecord,
  type ApprovalStore,
  EVERY_ROW,
  type ListedRun,
  type StepStore,
  type YieldTurn,
} from '@perdure/ports'
import type { SentDecision } from '../chat/pass-answers.ts'
import type { AgUiResume } from './request.ts'

/** What a client answers: decisions on approvals and results of tools, or the input that a run has asked for. */
export type SentResume =
  | { readonly decisions: readonly SentDecision[]; readonly results: readonly SentToolResult[] }
  | { readonly input: unknown }
  | { readonly refusal: readonly [code: string, message: string] }

export interface ResumeReads {
  readonly approvals: Pick<ApprovalStore, 'find' | 'list'>
  readonly steps: Pick<StepStore, 'listBriefly'>
  readonly yieldTurn: YieldTurn
}

interface Resuming {
  readonly run: Pick<ListedRun, 'id' | 'status'> | undefined
  readonly resumes: readonly AgUiResume[]
  /** The results that the messages hold. */
  readonly results: readonly SentToolResult[]
  /** The tools of the client, which need no answer: it performs them by itself. */
  readonly offered: ReadonlySet<string>
}

/**
 * Reads the answers to interrupts. An interrupt is named by its approval or by its tool call. The answers must cover all
 * open interrupts of the run, unless the client repeats answers that the run has. Only the boolean `true` approves.
 *
 * @param isOfThread whether the approval belongs to this thread; any other one is treated as if it did not exist
 */
export async function sentResumes(
  reads: ResumeReads,
  { run, resumes, results, offered }: Resuming,
  isOfThread: (approval: ApprovalRecord) => Promise<boolean>,
): Promise<SentResume> {
  const { approvals } = reads
  const input = resumes.find(({ interruptId }) => interruptId === `${run?.id}.resume`)
  if (input !== undefined) return { input: input.payload ?? null }
  const calls = run === undefined ? new Map() : await clientToolCalls(reads, run.id)
  const performed = resumes.filter(({ interruptId }) => calls.has(interruptId)).map(toolResultOf)
  const decisions: SentDecision[] = []
  for (const resume of resumes) {
    if (calls.has(resume.interruptId)) continue
    const approval = await approvalOf(approvals, run, resume.interruptId)
    if (approval === undefined || !(await isOfThread(approval))) {
      return { refusal: ['approval-not-found', `the thread has no interrupt ${resume.interruptId}`] }
    }
    if (approval.status === 'expired') {
      return { refusal: ['interrupt-expired', `the interrupt ${resume.interruptId} has expired`] }
    }
    const decision = decisionOf(approval.id, resume)
    if (decision === undefined) {
      return { refusal: ['validation-failed', `resume ${resume.interruptId}: payload.approved must be a boolean`] }
    }
    decisions.push(decision)
  }
  const sent = [
    ...results.filter(({ toolCallId }) => !performed.some((one) => one.toolCallId === toolCallId)),
    ...performed,
  ]
  const answered = new Set([
    ...decisions.map(({ approvalId }) => approvalId),
    ...sent.map(({ toolCallId }) => toolCallId),
  ])
  const waiting = [...calls].filter(([, { name, status }]) => status === 'waiting' && !offered.has(name))
  const open = [...(await openApprovals(approvals, run)).map(({ id }) => id), ...waiting.map(([id]) => id)]
  const missing = missingAnswers(open, answered)
  if (missing.length === 0) return { decisions, results: sent }
  return { refusal: ['interrupts-open', `resume must also answer ${missing.join(', ')}`] }
}

/** A client repeats its answers after a lost connection, when the run can already ask the next question. */
function missingAnswers(open: readonly string[], answered: ReadonlySet<string>): readonly string[] {
  const isRepeated = answered.size > 0 && !open.some((id) => answered.has(id))
  return isRepeated ? [] : open.filter((id) => !answered.has(id))
}

const toolResultOf = ({ interruptId: toolCallId, status, payload }: AgUiResume): SentToolResult =>
  status === 'cancelled' ? { toolCallId, error: 'cancelled' } : { toolCallId, result: payload ?? null }

function decisionOf(approvalId: string, { status, payload }: AgUiResume): SentDecision | undefined {
  if (status === 'cancelled') return { approvalId, approved: false, reason: 'cancelled' }
  const { approved, reason } = isFields(payload) ? payload : {}
  if (typeof approved !== 'boolean') return undefined
  return { approvalId, approved, ...(typeof reason === 'string' ? { reason } : {}) }
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
