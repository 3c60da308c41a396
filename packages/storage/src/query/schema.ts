import type { EventPhase } from '@perdure/ports'
import type { Generated } from 'kysely'
import type { ApprovalRow } from '../approvals/approval-row.ts'
import type { AuditHeadTable, AuditOutboxTable, AuditSourceTable, AuditTable } from '../audit/audit-tables.ts'
import type { ChatRow } from '../chats/chat-row.ts'
import type { EmissionRow } from '../events/emission-row.ts'
import type { FileHolderRow, FileRow, RunFileRow } from '../files/file-row.ts'
import type { HookDeliveryRow } from '../hooks/hook-delivery-row.ts'
import type { IdempotencyRow } from '../keys/idempotency-row.ts'
import type { McpServerRow } from '../mcp/mcp-server-row.ts'
import type { BlockRow } from '../memory/block-row.ts'
import type { FactRow } from '../memory/fact-row.ts'
import type { JobRow } from '../memory/job-row.ts'
import type { MemoryConflictRow } from '../memory/memory-conflict-row.ts'
import type { LaneRow } from '../runs/lane-row.ts'
import type { RunRow } from '../runs/run-row.ts'
import type { DeletedUsageRow } from '../runs/subject-usage.ts'
import type { MessageRow } from '../sessions/message-row.ts'
import type { SessionRow } from '../sessions/session-row.ts'
import type { StepRow } from '../steps/step-row.ts'
import type { SubjectRevocationRow } from '../tokens/subject-revocation-row.ts'
import type { TokenRow } from '../tokens/token-row.ts'
import type { FireRow } from '../triggers/fire-row.ts'
import type { TriggerRow } from '../triggers/trigger-row.ts'
import type { DeliveryRow } from '../webhooks/delivery-row.ts'
import type { WebhookRow } from '../webhooks/webhook-row.ts'

/**
 * The tables of both databases after the newest migration. JSON columns are text; timestamps are epoch milliseconds.
 * Columns that only one database has are named by a `Dialect`.
 */
export interface Schema {
  readonly meta: { readonly name: MetaName; readonly value: string }
  readonly runs: Keyed<RunRow>
  readonly run_fields: OfRun & RunFieldTable
  readonly run_follow_ups: OfRun
  readonly deleted_usage: DeletedUsageRow
  readonly lanes: LaneRow
  readonly steps: Keyed<StepRow & OfRun>
  readonly approvals: Keyed<ApprovalRow>
  readonly emissions: Keyed<EmissionRow>
  readonly events: EventTable & Partial<OfRun>
  readonly idempotency: IdempotencyRow
  readonly sessions: Keyed<SessionRow>
  readonly session_fields: OfSession & SessionFieldTable
  readonly messages: MessageRow & OfSession
  readonly chats: ChatRow
  readonly tokens: TokenRow
  readonly subject_revocations: SubjectRevocationRow
  readonly audit_entries: AuditTable
  readonly audit_heads: AuditHeadTable
  readonly audit_outbox: AuditOutboxTable
  readonly audit_sources: AuditSourceTable
  readonly triggers: TriggerRow
  readonly trigger_fires: FireRow
  readonly mcp_servers: McpServerRow
  readonly facts: FactTable
  readonly fact_vectors: { readonly fact_id: string; readonly fact_key: number; readonly vector: Uint8Array }
  readonly blocks: BlockRow
  readonly memory_conflicts: MemoryConflictRow
  readonly jobs: JobRow
  readonly changed_sessions: { readonly session_id: string; readonly changed_at: number }
  readonly extractions: { readonly session_id: string; readonly through_seq: number }
  readonly webhooks: WebhookRow
  readonly webhook_deliveries: DeliveryRow
  readonly hook_deliveries: HookDeliveryRow
  readonly files: FileRow
  readonly file_holders: FileHolderRow
  readonly run_files: RunFileRow
  readonly consolidation_spend: { readonly day: string; readonly tokens: number; readonly cost_usd: number }
}

export type MetaName = 'epoch' | 'trimmed_through' | 'hashed_ids_until' | 'copy_of' | 'clean_shutdown' | 'commit_mark'

/** A row of a run: PostgreSQL has the id, SQLite a number. */
interface OfRun {
  readonly run_id: string
  readonly run_key: number
}

interface OfSession {
  readonly session_id: string
  readonly session_key: number
}

export interface RunFieldTable {
  readonly field: string
  readonly value: string
  readonly run_at: number // created_at of the run
}

export interface SessionFieldTable {
  readonly field: string
  readonly value: string
  readonly session_at: number // created_at of the session
}

export interface EventTable {
  readonly position: number
  readonly session_id: string | null
  readonly topic: string | null
  readonly type: string
  readonly phase: EventPhase | null
  readonly at: number
  readonly payload: string
}

/** A table with a generated number for each row. */
type Keyed<Row> = Row & { readonly key: Generated<number> }

export type FactTable = Keyed<FactRow> & {
  readonly words: Generated<readonly string[]> // PostgreSQL; SQLite has a table of words
  readonly embedded_by: string | null // the embedder that processed the fact, even if it produced no vector
}
