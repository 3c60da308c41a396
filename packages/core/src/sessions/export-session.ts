import {
  type ApprovalStore,
  type Clock,
  type Digest,
  EVERY_ROW,
  type EventLog,
  type RunStore,
  type SessionStore,
  type StoredEvent,
  toJsonText,
  type UnitOfWork,
  type Visibility,
} from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { toApprovalResource } from '../approvals/approval-resource.ts'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Principal } from '../auth/principal.ts'
import { eachItem } from '../collections/each-item.ts'
import { type PageItem, partsOfItem, piecesOf } from '../json/json-page.ts'
import { eachEvent } from '../realtime/each-event.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import { outlineEvent } from '../realtime/outline-event.ts'
import { renderListedRun } from '../runs/run-outcome.ts'
import { findSession } from './read-sessions.ts'
import { toSessionResource } from './session-resource.ts'
import { renderMessages } from './withdrawn-messages.ts'

export interface ExportSessionDeps {
  readonly sessions: SessionStore
  readonly runs: RunStore
  readonly approvals: ApprovalStore
  readonly events: EventLog
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly digest: Pick<Digest, 'startSha256'>
  readonly render: RenderEnvelope
  readonly basePath: string
}

/**
 * Exports a session as lines of JSON: the session, its messages, each run with its approvals, its events as delivered,
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

const RECORD_BATCH = 10

/** An event up to this length is one part of the export. Bytes of UTF-8. */
const MAX_LINE_BYTES = 64 * 1024

export function createExportSession(deps: ExportSessionDeps): ExportSession {
  const { sessions, unitOfWork, clock, digest } = deps

  return async ({ sessionId, visibility, principal }) => {
    await findSession(sessions, sessionId, visibility)
    const entry = { at: clock.now(), action: 'sessions.export', target: sessionId }
    await requireAudit(() => unitOfWork.commit([auditWrite(principal, entry)]))
    return withChecksum(recordsOf(deps, sessionId), digest)
  }
}

interface ExportRecord {
  readonly type: 'session' | 'message' | 'run' | 'approval' | 'event'
  readonly record: PageItem
}

async function* withChecksum(
  records: AsyncIterable<ExportRecord>,
  digest: Pick<Digest, 'startSha256'>,
): AsyncGenerator<string | Uint8Array, void, void> {
  const sum = digest.startSha256()
  let count = 0
  for await (const record of records) {
    let isNew = true
    for await (const part of partsOfLine(record)) {
      sum.update(part)
      if (isNew) count += 1
      isNew = false
      yield part
    }
  }
  yield `${JSON.stringify({ type: 'checksum', algorithm: 'sha256', records: count, value: sum.end() })}\n`
}

/** Reads a long record part by part. Yields nothing for a record that was deleted. */
const partsOfLine = ({ type, record }: ExportRecord) =>
  partsOfItem([`{"type":"${type}","record":`, ...piecesOf(record), '}\n'])

async function* recordsOf(deps: ExportSessionDeps, sessionId: string): AsyncGenerator<ExportRecord, void, void> {
  const { sessions, runs, approvals, basePath } = deps
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
  for await (const run of eachItem(runsFrom)) {
    yield { type: 'run', record: renderListedRun(run, basePath) }
    const filter = { runId: run.id }
    const approvalsFrom = (cursor: string | undefined) =>
      approvals.list(filter, { ...oldestFirst(cursor), limit: 1 }, EVERY_ROW)
    for await (const approval of eachItem(approvalsFrom)) {
      yield { type: 'approval', record: toJsonText(toApprovalResource(approval)) }
    }
  }
  yield* eventsOf(deps, sessionId, head)
  // Throws if the session was deleted in the meantime, so that the export does not end with a checksum.
  await findSession(sessions, sessionId, EVERY_ROW)
}

function eventsOf(
  { events, render }: ExportSessionDeps,
  sessionId: string,
  { epoch, position: through }: { readonly epoch: string; readonly position: number },
): AsyncGenerator<ExportRecord, void, void> {
  const stream = { sessionId }
  const subject = formatSubject('session', stream)
  const show = (event: StoredEvent, isRepeat: boolean) => render(event, { subject, epoch, isRepeat })
  return eachEvent(events, { stream, through }, (event) => ({
    type: 'event',
    record: outlineEvent(events, { stream, show, maxShortBytes: MAX_LINE_BYTES }, event),
  }))
}

const oldestFirst = (cursor: string | undefined) => ({ limit: RECORD_BATCH, order: 'asc', cursor }) as const
