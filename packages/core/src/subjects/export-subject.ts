import {
  type BlockStore,
  type Clock,
  type Digest,
  type EpochMs,
  EVERY_ROW,
  type FactStore,
  type TriggerStore,
  toJsonText,
  type UnitOfWork,
  type WebhookStore,
} from '@perdure/ports'
import { auditWrite } from '../audit/audit-write.ts'
import { requireAudit } from '../audit/require-audit.ts'
import { checkSubjectName, type Principal } from '../auth/principal.ts'
import { eachItem } from '../collections/each-item.ts'
import { type FileRecordsDeps, fileRecords } from '../files/file-records.ts'
import { type ExportRecord, exportLines, oldestFirst } from '../json/export-lines.ts'
import { toBlockResource, toFactResource } from '../memory/memory-resources.ts'
import { runSubject } from '../runs/run-events.ts'
import { type SessionRecordsDeps, sessionRecords } from '../sessions/export-session.ts'
import { eventRecords, runRecords } from '../sessions/run-records.ts'
import { eachTrigger } from '../triggers/each-trigger.ts'
import { toTriggerResource } from '../triggers/trigger-resource.ts'
import { toWebhookResource } from '../webhooks/webhook-resource.ts'

export interface ExportSubjectDeps extends SessionRecordsDeps, FileRecordsDeps {
  readonly facts: Pick<FactStore, 'list'>
  readonly blocks: Pick<BlockStore, 'list'>
  readonly triggers: TriggerStore
  readonly webhooks: Pick<WebhookStore, 'list'>
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly digest: Pick<Digest, 'startSha256'>
}

/**
 * Exports what a subject owns as lines of JSON: its sessions as `ExportSession` does, its other runs with their approvals and
 * events, its facts and memory blocks, its triggers and webhooks, and each file with its content in lines
 * `{ type: 'file-part', record: { fileId, data } }` of base64. The last line is a checksum, without which the export is
 * incomplete.
 *
 * @throws PerdureError `validation-failed`, `audit-unavailable`
 */
export type ExportSubject = (request: {
  readonly subject: string
  readonly principal: Principal
}) => Promise<AsyncGenerator<string | Uint8Array, void, void>>

export function createExportSubject(deps: ExportSubjectDeps): ExportSubject {
  const { unitOfWork, clock, digest } = deps
  return async ({ subject, principal }) => {
    checkSubjectName(subject)
    const entry = { at: clock.now(), action: 'subjects.export', target: subject }
    await requireAudit(() => unitOfWork.commit([auditWrite(principal, entry)]))
    return exportLines(recordsOf(deps, subject), digest)
  }
}

type Records = AsyncGenerator<ExportRecord, void, void>

async function* recordsOf(deps: ExportSubjectDeps, subject: string): Records {
  const own = { owner: subject }
  const sessions = eachItem((cursor) => deps.sessions.list({}, oldestFirst(cursor), own))
  for await (const { id } of sessions) yield* sessionRecords(deps, id)
  yield* otherRuns(deps, subject)
  yield* memoryOf(deps, subject)
  for await (const trigger of eachTrigger(deps.triggers)) {
    if (trigger.owner !== subject) continue
    yield { type: 'trigger', record: toJsonText(toTriggerResource(trigger, deps.clock.now())) }
  }
  for (const webhook of await deps.webhooks.list()) {
    if (webhook.owner === subject) yield { type: 'webhook', record: toJsonText(toWebhookResource(webhook)) }
  }
  yield* fileRecords(deps, {}, own)
}

/** Runs that belong to no session of the subject. */
async function* otherRuns(deps: ExportSubjectDeps, owner: string): Records {
  const head = await deps.events.head()
  const content = ['input', 'result'] as const
  const runs = eachItem((cursor) => deps.runs.outline({ owner }, { ...oldestFirst(cursor), content }, EVERY_ROW))
  for await (const run of runs) {
    const { id: runId, sessionId } = run
    if (sessionId !== undefined && (await deps.sessions.find(sessionId, { owner })) !== undefined) continue
    yield* runRecords(deps, run)
    yield* eventRecords(deps, { stream: { runId }, subject: runSubject(run), head })
  }
}

async function* memoryOf({ facts, blocks }: ExportSubjectDeps, owner: string): Records {
  // At this instant, no fact has expired.
  const filter = { owner, now: 0 as EpochMs, visibility: EVERY_ROW } as const
  for await (const fact of eachItem((cursor) => facts.list(filter, oldestFirst(cursor)))) {
    yield { type: 'fact', record: toJsonText(toFactResource(fact)) }
  }
  for await (const block of eachItem((cursor) => blocks.list(undefined, oldestFirst(cursor), { owner }))) {
    yield { type: 'block', record: toJsonText(toBlockResource(block)) }
  }
}
