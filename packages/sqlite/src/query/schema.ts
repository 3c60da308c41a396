import type { EventPhase } from '@perdure/ports'
import type {
  ApprovalRow,
  AuditHeadTable,
  AuditOutboxTable,
  AuditSourceTable,
  AuditTable,
  BlockRow,
  DeliveryRow,
  EmissionRow,
  FactRow,
  FireRow,
  IdempotencyRow,
  JobRow,
  LaneRow,
  McpServerRow,
  MemoryConflictRow,
  MessageRow,
  RunRow,
  SessionRow,
  StepRow,
  TokenRow,
  TriggerRow,
  WebhookRow,
} from '@perdure/storage'
import type { Generated } from 'kysely'

/** The tables after the newest migration. JSON columns are text; timestamps are epoch milliseconds. */
export interface Schema {
  readonly meta: MetaTable
  readonly run_keys: RunKeyTable
  readonly runs: RunTable
  readonly run_fields: RunFieldTable
  readonly run_follow_ups: { readonly run_key: number }
  readonly lanes: LaneRow
  readonly steps: StepTable
  readonly approvals: Keyed<ApprovalRow>
  readonly emissions: Keyed<EmissionRow>
  readonly events: EventTable
  readonly idempotency: Keyed<IdempotencyRow>
  readonly sessions: Keyed<SessionRow>
  readonly session_fields: SessionFieldTable
  readonly messages: MessageTable
  readonly tokens: Keyed<TokenRow>
  readonly audit_entries: AuditTable
  readonly audit_heads: AuditHeadTable
  readonly audit_outbox: AuditOutboxTable
  readonly audit_sources: AuditSourceTable
  readonly triggers: Keyed<TriggerRow>
  readonly trigger_fires: Keyed<FireRow>
  readonly mcp_servers: Keyed<McpServerRow>
  readonly facts: FactTable
  readonly fact_words: { readonly rowid: number; readonly words: string }
  readonly fact_vectors: { readonly fact_key: number; readonly vector: Uint8Array }
  readonly blocks: Keyed<BlockRow>
  readonly memory_conflicts: Keyed<MemoryConflictRow>
  readonly jobs: Keyed<JobRow>
  readonly changed_sessions: { readonly session_id: string; readonly changed_at: number }
  readonly extractions: { readonly session_id: string; readonly through_seq: number }
  readonly webhooks: WebhookRow
  readonly webhook_deliveries: DeliveryRow
  readonly consolidation_spend: { readonly day: string; readonly tokens: number; readonly cost_usd: number }
}

export interface MetaTable {
  readonly name: 'epoch' | 'trimmed_through' | 'clean_shutdown' | 'commit_mark' | 'hashed_ids_until'
  readonly value: string
}

/** Maps a run id to the integer key used inside the database; assigned when the run is first mentioned. */
export interface RunKeyTable {
  readonly key: Generated<number>
  readonly run_id: string
}

export type RunTable = RunRow & { readonly key: number }

export interface RunFieldTable {
  readonly field: string
  readonly value: string
  readonly run_at: number // created_at of the run
  readonly run_key: number
}

export type StepTable = Keyed<Omit<StepRow, 'run_id'> & { readonly run_key: number }>

export interface EventTable {
  readonly position: Generated<number>
  readonly run_key: number | null
  readonly session_id: string | null
  readonly topic: string | null
  readonly type: string
  readonly phase: EventPhase | null
  readonly at: number
  readonly payload: string
}

export interface SessionFieldTable {
  readonly field: string
  readonly value: string
  readonly session_at: number // created_at of the session
  readonly session_key: number
}

export type MessageTable = Keyed<Omit<MessageRow, 'session_id'> & { readonly session_key: number }>

/** A table with a generated number for each row. */
type Keyed<Row> = Row & { readonly key: Generated<number> }

export type FactTable = Keyed<
  FactRow & {
    readonly tags: string // a JSON array
    readonly embedded_by: string | null // the embedder that processed the fact, even if it produced no vector
  }
>
