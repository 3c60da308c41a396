export { type Compile, createCompile, type Param, paramsFor, type Query } from './query/compile.ts'
export {
  type LongTextColumns,
  longText,
  outlinedBytes,
  type TextRef,
  toText,
  type UnreadText,
  type WithUnread,
} from './query/long-text.ts'
export { isBeyond, type PageOf, type PageValues, pageValues, pageVariant, rowBytes, toPage } from './query/page.ts'
export { statusList } from './query/run-status.ts'
export { APPROVAL_COLUMNS, type ApprovalRow, toApproval, toApprovalRow } from './rows/approval-row.ts'
export type { AuditHeadTable, AuditOutboxTable, AuditSourceTable, AuditTable } from './rows/audit-tables.ts'
export { BLOCK_COLUMNS, type BlockRow, toBlock, toBlockRow } from './rows/block-row.ts'
export {
  CHANGED_DELIVERY_COLUMNS,
  DELIVERY_COLUMNS,
  type DeliveryRow,
  toChangedColumns,
  toDelivery,
  toDeliveryRow,
} from './rows/delivery-row.ts'
export { EMISSION_COLUMNS, type EmissionRow, toEmission, toEmissionRow } from './rows/emission-row.ts'
export { toEventPayload } from './rows/event-payload.ts'
export { CHANGING_FACT_COLUMNS, FACT_COLUMNS, type FactRow, toFact, toFactRow } from './rows/fact-row.ts'
export { FIRE_COLUMNS, type FireRow, toFire, toFireRow } from './rows/fire-row.ts'
export {
  IDEMPOTENCY_COLUMNS,
  type IdempotencyRow,
  RESPONSE_COLUMNS,
  type ResponseColumns,
  toIdempotency,
  toIdempotencyRow,
  toResponseRow,
} from './rows/idempotency-row.ts'
export { type JobRow, toJob } from './rows/job-row.ts'
export { type LaneRow, toLaneRow, toTakenSlot } from './rows/lane-row.ts'
export { MCP_SERVER_COLUMNS, type McpServerRow, toMcpServer, toMcpServerRow } from './rows/mcp-server-row.ts'
export {
  MEMORY_CONFLICT_COLUMNS,
  type MemoryConflictRow,
  toMemoryConflict,
  toMemoryConflictRow,
} from './rows/memory-conflict-row.ts'
export { MESSAGE_COLUMNS, type MessageRow, toMessage, toMessageRow } from './rows/message-row.ts'
export { toRunError } from './rows/run-error-row.ts'
export { RUN_COLUMNS, type RunRow, toRun, toRunRow } from './rows/run-row.ts'
export { SESSION_COLUMNS, type SessionRow, toSession, toSessionRow } from './rows/session-row.ts'
export { STEP_COLUMNS, type StepRow, toStep, toStepRow } from './rows/step-row.ts'
export { TOKEN_COLUMNS, type TokenRow, toToken, toTokenRow } from './rows/token-row.ts'
export {
  CHANGING_TRIGGER_COLUMNS,
  TRIGGER_COLUMNS,
  type TriggerRow,
  toTrigger,
  toTriggerRow,
} from './rows/trigger-row.ts'
export { toWebhook, toWebhookRow, WEBHOOK_COLUMNS, type WebhookRow } from './rows/webhook-row.ts'
