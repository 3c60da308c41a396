import type { EpochMs, NewAuditEntry, UnitOfWork } from '@perdure/ports'
import type { AuditSpool } from './audit-spool.ts'
import { auditUnavailable } from './recording.ts'

/**
 * Decides before a request is handled whether what it does could be recorded.
 *
 * @throws AppError `audit-unavailable`
 */
export type AdmitRequest = (request: { readonly isPrivileged: boolean; readonly isPublic: boolean }) => Promise<void>

/** The chain is in the database that the deed is written to: it fails with the deed. */
export const admitAll: AdmitRequest = async () => undefined

/** For a chain in a file of its own. Public operations go on, so that health can tell what is wrong. */
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

/** Appends a link and undoes it, and writes to the disk, without leaving a trace. */
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
