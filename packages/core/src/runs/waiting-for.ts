import { type ApprovalStore, EVERY_ROW, type RunRecord, type StepRecord, type StepStore } from '@perdure/ports'
import { codeWait, parkReasonOf } from './parked.ts'
import type { WaitingFor } from './run-outcome.ts'
import { awaitsResume, readSuspension } from './stored-suspension.ts'

/** What a suspended run waits for. */
export async function waitsOf(
  { steps, approvals }: { readonly steps: StepStore; readonly approvals: ApprovalStore },
  run: RunRecord,
): Promise<readonly WaitingFor[]> {
  const reason = parkReasonOf(run)
  if (reason !== undefined) return [codeWait(reason)]
  if (!awaitsResume(run))
    return (await steps.list(run.id, { results: false })).filter(({ status }) => status === 'waiting').map(toWaitingFor)
  const { approvalIds = [] } = readSuspension(run) ?? {}
  if (approvalIds.length === 0) return [{ kind: 'resume', name: 'resume' }]
  const asked = await Promise.all(approvalIds.map((id) => approvals.find(id, EVERY_ROW)))
  return asked.flatMap((one) =>
    one?.status === 'pending'
      ? [{ kind: 'approval', name: one.name, approvalId: one.id, dueAt: isoOf(one.expiresAt) }]
      : [],
  )
}

export const toWaitingFor = ({ kind, name, approvalId, childRunId, dueAt }: StepRecord): WaitingFor => ({
  kind,
  name,
  approvalId,
  runId: childRunId,
  dueAt: isoOf(dueAt),
})

export const isoOf = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
