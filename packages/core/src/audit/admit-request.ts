import type { EpochMs, NewAuditEntry, UnitOfWork } from '@perdure/ports'
import type { AuditSpool } from './audit-spool.ts'
import { auditUnavailable } from './require-audit.ts'

/**
 * Rejects a request before it is handled if its audit entry cannot be written.
 *
 * @throws PerdureError `audit-unavailable`
 */
export type AdmitRequest = (request: { readonly isPrivileged: boolean; readonly isPublic: boolean }) => Promise<void>

/**
 * For a chain in the main database: admits every request, because the commit of an action fails if its audit entry
 * cannot be written.
 */
export const admitEveryRequest: AdmitRequest = async () => undefined

/** For a chain in its own file. Public operations stay available, so that health can report the problem. */
export function createAdmitRequest({
  unitOfWork,
  spool,
}: {
  readonly unitOfWork: UnitOfWork
  readonly spool: AuditSpool
}): AdmitRequest {
  return async ({ isPrivileged, isPublic }) => {
    if (!isPublic && spool.isFull()) throw auditUnavailable(spool.failure())
    if (!isPrivileged) return
    try {
      await probe(unitOfWork)
    } catch (error) {
      throw auditUnavailable(error)
    }
  }
}

const PROBE: NewAuditEntry = {
  at: 0 as EpochMs,
  actor: { kind: 'system', subject: 'audit' },
  action: 'audit.probe',
  decision: 'allowed',
}
const KEY = 'probe'

/**
 * Tests whether both databases accept writes, without changing them: the first commit appends an entry but is rolled
 * back, because its `run.fence` names a run that does not exist; the second commit stages an entry and releases it.
 */
async function probe(unitOfWork: UnitOfWork): Promise<void> {
  await Promise.all([
    unitOfWork.commit([
      { type: 'audit.append', entry: PROBE },
      { type: 'run.fence', runId: KEY, attempt: 0 },
    ]),
    unitOfWork.commit([
      { type: 'audit.stage', key: KEY, entry: PROBE },
      { type: 'audit.release', keys: [KEY] },
    ]),
  ])
}
