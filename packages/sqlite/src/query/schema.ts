import type {
  ApprovalStatus,
  EventPhase,
  FinishReason,
  FireRecord,
  FireStatus,
  MessageRecord,
  RunKind,
  RunStatus,
  StepKind,
  StepStatus,
} from '@perdure/ports'
import type { TokenEnv, TriggerKind } from '@perdure/protocol'
import type { Generated } from 'kysely'
import type { AuditHeadTable, AuditOutboxTable, AuditSourceTable, AuditTable } from './audit-schema.ts'
import type { BlockTable, FactTable, JobTable, MemoryConflictTable } from './memory-schema.ts'
import type { DeliveryTable, WebhookTable } from './webhook-schema.ts'

/** The tables after the newest migration. JSON columns are text; timestamps are epoch milliseconds. */
export interface Schema {
  readonly meta: MetaTable
  readonly run_keys: RunKeyTable
  readonly runs: RunTable
  readonly run_fields: RunFieldTable
  readonly run_follow_ups: { readonly run_key: number }
  readonly lanes: LaneTable
  readonly steps: StepTable
  readonly approvals: ApprovalTable
  readonly emissions: EmissionTable
  readonly events: EventTable
  readonly idempotency: IdempotencyTable
  readonly sessions: SessionTable
  readonly session_fields: SessionFieldTable
  readonly messages: MessageTable
  readonly tokens: TokenTable
  readonly audit_entries: AuditTable
  readonly audit_heads: AuditHeadTable
  readonly audit_outbox: AuditOutboxTable
  readonly audit_sources: AuditSourceTable
  readonly triggers: TriggerTable
  readonly trigger_fires: FireTable
  readonly mcp_servers: McpServerTable
  readonly facts: FactTable
  readonly fact_words: { readonly rowid: number; readonly words: string }
  readonly fact_vectors: { readonly fact_key: number; readonly vector: Uint8Array }
  readonly blocks: BlockTable
  readonly memory_conflicts: MemoryConflictTable
  readonly jobs: JobTable
  readonly changed_sessions: { readonly session_id: string; readonly changed_at: number }
  readonly extractions: { readonly session_id: string; readonly through_seq: number }
  readonly webhooks: WebhookTable
  readonly webhook_deliveries: DeliveryTable
  readonly consolidation_spend: { readonly day: string; readonly tokens: number; readonly cost_usd: number }
}

export interface TriggerTable {
  readonly key: Generated<number>
  readonly id: string
  readonly kind: TriggerKind
  readonly event: string | null
  readonly is_active: 0 | 1 // enabled and not orphaned
  readonly due_at: number | null
  readonly last_fire_id: string | null
  readonly last_status: FireStatus | null
  readonly version: number
  readonly created_at: number
  readonly definition: string // JSON of all other fields
}

export interface FireTable {
  readonly key: Generated<number>
  readonly id: string
  readonly trigger_id: string
  readonly scheduled_at: number
  readonly cause: FireRecord['cause']
  readonly status: FireStatus
  readonly input: string | null
  readonly fired_at: number | null
  readonly run_id: string | null
  readonly reason: string | null
  readonly created_at: number
}

export interface McpServerTable {
  readonly key: Generated<number>
  readonly id: string
  readonly url: string
  readonly headers_ref: string | null
  readonly created_at: number
  readonly created_by: string
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

export interface RunTable {
  readonly key: number
  readonly id: string
  readonly kind: RunKind
  readonly target_id: string
  readonly thread_id: string | null
  readonly session_id: string | null
  readonly owner: string
  readonly user_id: string | null
  readonly status: RunStatus
  readonly finish_reason: FinishReason | null
  readonly attempt: number
  readonly timeout_ms: number | null
  readonly parent_run_id: string | null
  readonly trigger_id: string | null
  readonly traceparent: string | null
  readonly created_at: number
  readonly started_at: number | null
  readonly suspended_at: number | null
  readonly completed_at: number | null
  readonly usage: string
  readonly metadata: string
  readonly error: string | null
  readonly input: string
  readonly result: string | null
  readonly depth: number
  readonly parent_seq: number | null
  readonly deadline_at: number | null
  readonly budget: string | null
  readonly suspension: string | null
  readonly resumption: string | null
  readonly version: string | null
  readonly start_at: number | null
  readonly retries: number | null
  readonly abort_reason: string | null
  readonly fork_run_id: string | null
  readonly fork_seq: number | null
  readonly parked: string | null
  readonly priority: number | null
  readonly flow: string | null // JSON
  readonly execution: number
  readonly executor: string | null
}

export interface LaneTable {
  readonly lane: string
  readonly slot: number
  readonly run_id: string
  readonly free_at: number | null
}

export interface RunFieldTable {
  readonly field: string
  readonly value: string
  readonly run_at: number // created_at of the run
  readonly run_key: number
}

export interface StepTable {
  readonly key: Generated<number>
  readonly run_key: number
  readonly seq: number
  readonly kind: StepKind
  readonly name: string
  readonly status: StepStatus
  readonly attempt: number
  readonly order: number | null
  readonly due_at: number | null
  readonly event_name: string | null
  readonly approval_id: string | null
  readonly child_run_id: string | null
  readonly started_at: number
  readonly settled_at: number | null
  readonly error: string | null
  readonly result: string | null
  readonly usage: string | null // JSON
}

export interface EmissionTable {
  readonly key: Generated<number>
  readonly id: string
  readonly event_name: string
  readonly created_at: number
  readonly waits: string // JSON: [[run id, seq], …]
  readonly payload: string
}

export interface ApprovalTable {
  readonly key: Generated<number>
  readonly id: string
  readonly run_id: string
  readonly seq: number | null
  readonly kind: RunKind
  readonly target_id: string
  readonly session_id: string | null
  readonly owner: string
  readonly name: string
  readonly title: string | null
  readonly tool_call_id: string | null
  readonly status: ApprovalStatus
  readonly created_at: number
  readonly expires_at: number | null
  readonly resolved_at: number | null
  readonly by: string | null
  readonly reason: string | null
  readonly payload: string | null
  readonly decision: string | null
}

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

export interface IdempotencyTable {
  readonly key: Generated<number>
  readonly id: string
  readonly fingerprint: string
  readonly run_id: string | null
  readonly content_of: string | null // id of the run, session or approval whose content the response holds
  readonly created_at: number
  readonly expires_at: number
  readonly status: number | null // of the response; null while the request executes
  readonly location: string | null
  readonly content_type: string | null
  readonly body: string | null
  readonly sealed: number | null // 1 when the body is sealed
  readonly executor: string | null
  readonly patient_until: number | null
}

export interface SessionTable {
  readonly key: Generated<number>
  readonly id: string
  readonly owner: string
  readonly title: string | null
  readonly user_id: string | null
  readonly agent_id: string | null
  readonly last_seq: number // seq of the newest message; 0 without messages
  readonly created_at: number
  readonly updated_at: number
  readonly metadata: string
}

export interface SessionFieldTable {
  readonly field: string
  readonly value: string
  readonly session_at: number // created_at of the session
  readonly session_key: number
}

export interface MessageTable {
  readonly key: Generated<number>
  readonly session_key: number
  readonly seq: number
  readonly id: string
  readonly role: MessageRecord['role']
  readonly run_id: string | null
  readonly created_at: number
  readonly content: string
}

export interface TokenTable {
  readonly key: Generated<number>
  readonly id: string
  readonly digest: string
  readonly name: string
  readonly subject: string
  readonly env: TokenEnv
  readonly scopes: string
  readonly created_at: number
  readonly created_by: string
  readonly expires_at: number | null
  readonly last_used_at: number | null
  readonly revoked_at: number | null
  readonly last4: string
  readonly parent_id: string | null
  readonly replaced_by: string | null
}
