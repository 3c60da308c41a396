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
import type { LockoutTable, TicketTable } from '../access/access-schema.ts'
import type { DepartedNodeTable, DutyTable, NodeGroupTable, NodeTable } from './node-schema.ts'

/** The tables after the newest migration. JSON columns are text; timestamps are epoch milliseconds. */
export interface Schema {
  readonly meta: MetaTable
  readonly nodes: NodeTable
  readonly node_groups: NodeGroupTable
  readonly tickets: TicketTable
  readonly lockouts: LockoutTable
  readonly departed_nodes: DepartedNodeTable
  readonly duties: DutyTable
  readonly runs: RunRow
  readonly run_fields: RunFieldTable
  readonly lanes: LaneRow
  readonly run_follow_ups: RunFollowUpTable
  readonly steps: StepTable
  readonly approvals: Keyed<ApprovalRow>
  readonly emissions: Keyed<EmissionRow>
  readonly events: EventTable
  readonly idempotency: IdempotencyRow
  readonly sessions: SessionRow
  readonly session_fields: SessionFieldTable
  readonly messages: MessageTable
  readonly tokens: TokenRow
  readonly audit_entries: AuditTable
  readonly audit_heads: AuditHeadTable
  readonly audit_outbox: AuditOutboxTable
  readonly audit_sources: AuditSourceTable
  readonly triggers: TriggerRow
  readonly trigger_fires: FireRow
  readonly mcp_servers: McpServerRow
  readonly facts: FactTable
  readonly fact_vectors: { readonly fact_id: string; readonly vector: Uint8Array }
  readonly blocks: BlockRow
  readonly memory_conflicts: MemoryConflictRow
  readonly jobs: JobRow
  readonly changed_sessions: { readonly session_id: string; readonly changed_at: number }
  readonly extractions: { readonly session_id: string; readonly through_seq: number }
  readonly webhooks: WebhookRow
  readonly webhook_deliveries: DeliveryRow
  readonly consolidation_spend: { readonly day: string; readonly tokens: number; readonly cost_usd: number }
}

export interface MetaTable {
  readonly name: 'epoch' | 'trimmed_through' | 'copy_of' | 'hashed_ids_until'
  readonly value: string
}

export interface RunFollowUpTable {
  readonly run_id: string
}

export interface RunFieldTable {
  readonly field: string
  readonly value: string
  readonly run_at: number // created_at of the run
  readonly run_id: string
}

export type StepTable = Keyed<StepRow>

export interface EventTable {
  readonly position: number
  readonly run_id: string | null
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
  readonly session_id: string
}

export type MessageTable = MessageRow

/** A table with a generated number for each row. */
type Keyed<Row> = Row & { readonly key: Generated<number> }

export type FactTable = Keyed<
  FactRow & {
    readonly tags: readonly string[]
    readonly words: readonly string[]
    readonly embedded_by: string | null // the embedder that processed the fact, even if it produced no vector
  }
>
