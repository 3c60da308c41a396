export { APPROVAL_COLUMNS, type ApprovalRow, toApproval, toApprovalRow } from './approvals/approval-row.ts'
export type { AuditHeadTable, AuditOutboxTable, AuditSourceTable, AuditTable } from './audit/audit-tables.ts'
export { CHAT_COLUMNS, type ChatRow, toChat, toChatRow } from './chats/chat-row.ts'
export { NOTE_MESSAGE, type NotedMessage, toNotedMessage } from './chats/chat-writes.ts'
export { applyWrites } from './commit-writes.ts'
export { createStores } from './create-stores.ts'
export { EMISSION_COLUMNS, type EmissionRow, toEmission, toEmissionRow } from './events/emission-row.ts'
export { readEvents, readLogHead } from './events/event-log.ts'
export { toEventPayload } from './events/event-payload.ts'
export {
  HOOK_DELIVERY_COLUMNS,
  type HookDeliveryRow,
  toHookDelivery,
  toHookDeliveryRow,
} from './hooks/hook-delivery-row.ts'
export {
  IDEMPOTENCY_COLUMNS,
  type IdempotencyRow,
  RESPONSE_COLUMNS,
  type ResponseColumns,
  toIdempotency,
  toIdempotencyRow,
  toResponseRow,
} from './keys/idempotency-row.ts'
export { findIdempotencies } from './keys/idempotency-store.ts'
export { MCP_SERVER_COLUMNS, type McpServerRow, toMcpServer, toMcpServerRow } from './mcp/mcp-server-row.ts'
export { BLOCK_COLUMNS, type BlockRow, toBlock, toBlockRow } from './memory/block-row.ts'
export { type FilterValues, filterValues, filterVariant, matchesFilter } from './memory/fact-filter.ts'
export { CHANGING_FACT_COLUMNS, FACT_COLUMNS, type FactRow, toFact, toFactRow } from './memory/fact-row.ts'
export { type JobRow, toJob } from './memory/job-row.ts'
export {
  MEMORY_CONFLICT_COLUMNS,
  type MemoryConflictRow,
  toMemoryConflict,
  toMemoryConflictRow,
} from './memory/memory-conflict-row.ts'
export { type Pending, type Program, pending, ready, runLater, runNow } from './program.ts'
export { type ColumnType, type ColumnTypes, columnsOf, pickTypes } from './query/column-types.ts'
export { compile, type Param, paramsFor, type Query, type Statement, statement } from './query/compile.ts'
export type { Built, Db, Dialect, FactDialect, FactSearch, LockName } from './query/dialect.ts'
export { queryBuilder } from './query/from.ts'
export {
  type LongTextColumns,
  longText,
  outlinedBytes,
  toText,
  type UnreadText,
  type WithUnread,
} from './query/long-text.ts'
export { isBeyond, type PageOf, type PageValues, pageValues, pageVariant, rowBytes, toPage } from './query/page.ts'
export { statusList } from './query/run-status.ts'
export type { EventTable, RunFieldTable, Schema, SessionFieldTable } from './query/schema.ts'
export type { TextPart, TextRef } from './query/text-ref.ts'
export { createVariants } from './query/variants.ts'
export { type LaneRow, toLaneRow, toTakenSlot } from './runs/lane-row.ts'
export { FREE_HELD_SLOTS } from './runs/lane-store.ts'
export { toRunError } from './runs/run-error-row.ts'
export { RUN_COLUMNS, RUN_TYPES, type RunRow, toRun, toRunRow } from './runs/run-row.ts'
export { findRun, listRuns } from './runs/run-store.ts'
export { CHANGING_RUN_COLUMNS, type ChangedRunColumns, NO_EXECUTOR, toChangedRunColumns } from './runs/run-writes.ts'
export { MESSAGE_COLUMNS, MESSAGE_TYPES, type MessageRow, toMessage, toMessageRow } from './sessions/message-row.ts'
export { sessionFields } from './sessions/session-filter.ts'
export { SESSION_COLUMNS, SESSION_TYPES, type SessionRow, toSession, toSessionRow } from './sessions/session-row.ts'
export { STEP_COLUMNS, STEP_TYPES, type StepRow, toStep, toStepRow } from './steps/step-row.ts'
export {
  CHANGING_STEP_COLUMNS,
  type ChangedStepColumns,
  endsStep,
  toChangedStepColumns,
} from './steps/step-writes.ts'
export type { StorageHost } from './storage-host.ts'
export { keepTokens } from './tokens/known-tokens.ts'
export { TOKEN_COLUMNS, type TokenRow, toToken, toTokenRow } from './tokens/token-row.ts'
export type { Transaction, WriteApplier, WriteAppliers, WriteOf } from './transaction.ts'
export { FIRE_COLUMNS, type FireRow, toFire, toFireRow } from './triggers/fire-row.ts'
export {
  CHANGING_TRIGGER_COLUMNS,
  TRIGGER_COLUMNS,
  type TriggerRow,
  toTrigger,
  toTriggerRow,
} from './triggers/trigger-row.ts'
export {
  CHANGED_DELIVERY_COLUMNS,
  DELIVERY_COLUMNS,
  type DeliveryRow,
  toChangedColumns,
  toDelivery,
  toDeliveryRow,
} from './webhooks/delivery-row.ts'
export { toWebhook, toWebhookRow, WEBHOOK_COLUMNS, type WebhookRow } from './webhooks/webhook-row.ts'
