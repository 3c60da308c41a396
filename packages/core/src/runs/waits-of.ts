import { type ApprovalStore, EVERY_ROW, type RunRecord, type StepRecord, type StepStore } from '@berth/ports'
import type { WaitingFor } from './run-outcome.ts'
import { awaitsResume } from './suspension.ts'

/** What a suspended run waits for. */
export async function waitsOf(
  { steps, approvals }: { readonly steps: StepStore; readonly approvals: ApprovalStore },
  run: RunRecord,
): Promise<readonly WaitingFor[]> {
  if (!awaitsResume(run))
    return (await steps.list(run.id)).filter(({ status }) => status === 'waiting').map(toWaitingFor)
  const { items } = await approvals.list({ runId: run.id, status: 'pending' }, { limit: 200, order: 'asc' }, EVERY_ROW)
  if (items.length === 0) return [{ kind: 'resume', name: 'resume' }]
  return items.map(({ id, name }) => ({ kind: 'approval', name, approvalId: id }))
}

export const toWaitingFor = ({ kind, name, approvalId, childRunId, dueAt }: StepRecord): WaitingFor => ({
  kind,
  name,
  approvalId,
  runId: childRunId,
  dueAt: dueAt === undefined ? undefined : new Date(dueAt).toISOString(),
})
