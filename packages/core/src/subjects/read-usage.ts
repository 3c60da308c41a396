import { type Clock, endOfDay, type FileStore, type RunStore, startOfDay } from '@perdure/ports'
import { authorize } from '../auth/authorize.ts'
import { checkSubjectName, type Principal } from '../auth/principal.ts'
import { type PerSubject, subjectLimitsOf } from '../runs/subject-limits.ts'

export interface ReadSubjectUsageDeps {
  readonly runs: Pick<RunStore, 'usage'>
  readonly files: Pick<FileStore, 'usage'>
  readonly clock: Clock
  readonly perSubject?: PerSubject | undefined
  readonly maxFileBytes: number
}

/** What a subject uses now and today, beside its limits; `null` means no limit. */
export type ReadSubjectUsage = ReturnType<typeof createReadSubjectUsage>

/** @throws PerdureError `validation-failed`; `scope-denied` for another subject without `subjects:read` */
export function createReadSubjectUsage({ runs, files, clock, perSubject, maxFileBytes }: ReadSubjectUsageDeps) {
  return async ({ subject, principal }: { readonly subject: string; readonly principal: Principal }) => {
    checkSubjectName(subject)
    if (subject !== principal.subject) authorize(principal, 'subjects:read', {})
    const now = clock.now()
    const limits = subjectLimitsOf(perSubject)
    const [used, { bytes }] = await Promise.all([runs.usage(subject, now), files.usage(subject)])
    const beside = (name: keyof typeof limits) => ({ used: used[name], limit: limits[name] ?? null })
    return {
      subject,
      day: new Date(startOfDay(now)).toISOString().slice(0, 10),
      resetsAt: new Date(endOfDay(now)).toISOString(),
      activeRuns: beside('activeRuns'),
      runsToday: beside('runsToday'),
      costUsdToday: beside('costUsdToday'),
      fileBytes: { used: bytes, limit: maxFileBytes },
    }
  }
}
