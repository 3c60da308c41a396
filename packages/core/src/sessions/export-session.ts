import {
  type Clock,
  type Digest,
  EVERY_ROW,
  type RunStore,
  type SessionStore,
  toJsonText,
  type UnitOfWork,
  type Visibility,
} from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Principal } from '../auth/principal.ts'
import { eachItem } from '../collections/each-item.ts'
import { type FileRecordsDeps, fileRecords } from '../files/file-records.ts'
import { type ExportRecord, exportLines, oldestFirst } from '../json/export-lines.ts'
import { findSession } from './read-sessions.ts'
import { eventRecords, type RunRecordsDeps, runRecords } from './run-records.ts'
import { toSessionResource } from './session-resource.ts'
import { renderMessages } from './withdrawn-messages.ts'

export interface SessionRecordsDeps extends RunRecordsDeps {
  readonly sessions: SessionStore
  readonly runs: RunStore
}

export interface ExportSessionDeps extends SessionRecordsDeps, FileRecordsDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly digest: Pick<Digest, 'startSha256'>
}

/**
 * Exports a session as lines of JSON: the session, its messages, each run with its approvals, its events as delivered,
 * the files that it holds, each with its content in lines `{ type: 'file-part', record: { fileId, data } }` of base64,
 * and finally `{ type: 'checksum', algorithm: 'sha256', records, value }` over all preceding bytes. Reads as fast as the
 * client does: records in small batches, and long texts in parts. An export without the checksum line is incomplete.
 *
 * The audit entry of an export is written before anything is read.
 *
 * @throws PerdureError `session-not-found`, `audit-unavailable`
 */
export type ExportSession = (request: {
  readonly sessionId: string
  readonly visibility: Visibility
  readonly principal: Principal
}) => Promise<AsyncGenerator<string | Uint8Array, void, void>>

export function createExportSession(deps: ExportSessionDeps): ExportSession {
  const { sessions, unitOfWork, clock, digest } = deps

  return async ({ sessionId, visibility, principal }) => {
    await findSession(sessions, sessionId, visibility)
    const entry = { at: clock.now(), action: 'sessions.export', target: sessionId }
    await requireAudit(() => unitOfWork.commit([auditWrite(principal, entry)]))
    return exportLines(withFiles(deps, sessionId), digest)
  }
}

async function* withFiles(deps: ExportSessionDeps, sessionId: string): AsyncGenerator<ExportRecord, void, void> {
  yield* sessionRecords(deps, sessionId)
  yield* fileRecords(deps, { sessionId }, EVERY_ROW)
  await findSession(deps.sessions, sessionId, EVERY_ROW)
}

/** The records of a session. Throws if the session is deleted in the meantime, so that the export does not end with a checksum. */
export async function* sessionRecords(
  deps: SessionRecordsDeps,
  sessionId: string,
): AsyncGenerator<ExportRecord, void, void> {
  const { sessions, runs } = deps
  const head = await deps.events.head()
  yield { type: 'session', record: toJsonText(toSessionResource(await findSession(sessions, sessionId, EVERY_ROW))) }
  const messagesFrom = async (cursor: string | undefined) => {
    const { items, nextCursor } = await sessions.outlineMessages(sessionId, oldestFirst(cursor))
    return { items: await renderMessages(runs, items), nextCursor }
  }
  for await (const record of eachItem(messagesFrom)) yield { type: 'message', record }
  const content = ['input', 'result'] as const
  const runsFrom = (cursor: string | undefined) =>
    runs.outline({ sessionId }, { ...oldestFirst(cursor), content }, EVERY_ROW)
  for await (const run of eachItem(runsFrom)) yield* runRecords(deps, run)
  yield* eventRecords(deps, { stream: { sessionId }, subject: formatSubject('session', { sessionId }), head })
  await findSession(sessions, sessionId, EVERY_ROW)
}
