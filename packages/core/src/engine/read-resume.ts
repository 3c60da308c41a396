import { type ApprovalStore, EVERY_ROW, fromJsonText, type RunRecord } from '@perdure/ports'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { readResumption, type StoredSuspension } from '../runs/stored-suspension.ts'
import type { Resume } from '../targets/run-context.ts'

/** `ctx.resume` of a run that returned `ctx.suspend(…)` and was resumed. */
export async function readResume(
  deps: RetryDeps & { readonly approvals: ApprovalStore },
  run: RunRecord,
  { state, approvalIds }: StoredSuspension,
): Promise<Resume> {
  const { approvals } = deps
  const find = (id: string) => retryTransient(deps, () => approvals.find(id, EVERY_ROW))
  const decided = await Promise.all(approvalIds.map(find))
  return {
    state,
    payload: readResumption(run)?.payload ?? null,
    approvals: decided.flatMap((approval) => {
      if (approval === undefined) return []
      const { id, name, status, reason, by, decision, editedArgs } = approval
      const payload = decision === undefined ? undefined : fromJsonText(decision)
      return [
        {
          id,
          name,
          approved: status === 'approved',
          ...(reason === undefined ? {} : { reason }),
          ...(by === undefined ? {} : { by }),
          ...(payload === undefined ? {} : { payload }),
          ...(editedArgs === undefined ? {} : { args: fromJsonText(editedArgs) }),
        },
      ]
    }),
  }
}
