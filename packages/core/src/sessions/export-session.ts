import {
  type ApprovalStore,
  type Clock,
  type Digest,
  EVERY_ROW,
  type EventLog,
  type Page,
  type RunStore,
  type SessionStore,
  toJsonText,
  type UnitOfWork,
  type Visibility,
} from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { toApprovalResource } from '../approvals/approval-resource.ts'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import type { Principal } from '../auth/principal.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import { toRunResource } from '../runs/run-outcome.ts'
import { findSession } from './read-sessions.ts'
import { toMessageResource, toSessionResource } from './session-resource.ts'

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
 * and finally `{ type: 'checksum', algorithm: 'sha256', records, value }` over all preceding bytes. Reads in small
 * batches, regardless of the length of the session. An export without the checksum line is incomplete.
 *
 * The audit entry of an export is written before anything is read.
 *
 * @throws AppError `session-not-found`, `audit-unavailable`
 */
export type ExportSession = (request: {
  readonly sessionId: string
  readonly visibility: Visibility
  readonly principal: Principal
}) => Promise<AsyncGenerator<string, void, void>>

/** Small, because a message may be one megabyte long and a run two megabytes. */
const RECORD_BATCH = 10

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
  /** JSON text. */
  readonly record: string
}

async function* withChecksum(
  records: AsyncIterable<ExportRecord>,
  digest: Pick<Digest, 'startSha256'>,
): AsyncGenerator<string, void, void> {
  const sum = digest.startSha256()
  let count = 0
  for await (const { type, record } of records) {
    const line = `{"type":"${type}","record":${record}}\n`
    sum.update(line)
    count += 1
    yield line
  }
  yield `${JSON.stringify({ type: 'checksum', algorithm: 'sha256', records: count, value: sum.end() })}\n`
}

async function* recordsOf(deps: ExportSessionDeps, sessionId: string): AsyncGenerator<ExportRecord, void, void> {
  const { sessions, runs, approvals, basePath } = deps
  const head = await deps.events.head()
  yield { type: 'session', record: toJsonText(toSessionResource(await findSession(sessions, sessionId, EVERY_ROW))) }
  for await (const message of eachItem((cursor) => sessions.messages(sessionId, oldestFirst(cursor)))) {
    yield { type: 'message', record: toJsonText(toMessageResource(message)) }
  }
  for await (const run of eachItem((cursor) => runs.list({ sessionId }, oldestFirst(cursor), EVERY_ROW))) {
    yield { type: 'run', record: toJsonText(toRunResource(run, basePath)) }
    const filter = { runId: run.id }
    for await (const approval of eachItem((cursor) => approvals.list(filter, oldestFirst(cursor), EVERY_ROW))) {
      yield { type: 'approval', record: toJsonText(toApprovalResource(approval)) }
    }
  }
  yield* eventsOf(deps, sessionId, head)
  // Throws if the session was deleted in the meantime, so that the export does not end with a checksum.
  await findSession(sessions, sessionId, EVERY_ROW)
}

async function* eventsOf(
  { events, render }: ExportSessionDeps,
  sessionId: string,
  { epoch, position: last }: { readonly epoch: string; readonly position: number },
): AsyncGenerator<ExportRecord, void, void> {
  const subject = formatSubject('session', { sessionId })
  let after = 0
  for (;;) {
    const page = await events.read({ sessionId }, { after, limit: RECORD_BATCH })
    for (const event of page) {
      if (event.position > last) return
      yield { type: 'event', record: render(event, { subject, epoch }) }
      after = event.position
    }
    if (page.length < RECORD_BATCH) return
  }
}

const oldestFirst = (cursor: string | undefined) => ({ limit: RECORD_BATCH, order: 'asc', cursor }) as const

async function* eachItem<T>(read: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T, void, void> {
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
