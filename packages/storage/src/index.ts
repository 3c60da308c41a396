export { NOTE_MESSAGE, type NotedMessage, toNotedMessage } from './chats/chat-writes.ts'
export { applyWrites } from './commit-writes.ts'
export { createStores } from './create-stores.ts'
export { eventReads } from './events/event-log.ts'
export { toEventPayload } from './events/event-payload.ts'
export {
  IDEMPOTENCY_COLUMNS,
  IDEMPOTENCY_TYPES,
  type IdempotencyRow,
  RESPONSES,
  type ResponseColumns,
  toIdempotency,
  toIdempotencyRow,
  toResponseRow,
} from './keys/idempotency-row.ts'
export { findIdempotencies } from './keys/idempotency-store.ts'
export { type FilterValues, filterValues, filterVariant, matchesFilter } from './memory/fact-filter.ts'
export { type Pending, type Program, pending, ready, runLater, runNow } from './program.ts'
export { compile, type Param, paramsFor, type Query, type Statement, statement } from './query/compile.ts'
export type { Built, Db, Dialect, FactDialect, FactSearch, LockName } from './query/dialect.ts'
export { queryBuilder } from './query/from.ts'
export { type Changes, type ColumnType, type ColumnTypes, columnsOf } from './query/record-table.ts'
export type { EventTable, RunFieldTable, Schema, SessionFieldTable } from './query/schema.ts'
export type { TextPart, TextRef } from './query/text-ref.ts'
export { createVariants } from './query/variants.ts'
export type { LaneRow } from './runs/lane-row.ts'
export { FREE_HELD_SLOTS } from './runs/lane-store.ts'
export { RUN_COLUMNS, RUN_TYPES, type RunRow, toRun, toRunRow } from './runs/run-row.ts'
export { runReads } from './runs/run-store.ts'
export { type ChangedRunColumns, NO_EXECUTOR, RUN_CHANGES, toChangedRunColumns } from './runs/run-writes.ts'
export { MESSAGES, type MessageRow, toMessageRow } from './sessions/message-row.ts'
export { sessionFields } from './sessions/session-filter.ts'
export { SESSION_TYPES, type SessionRow, toSessionRow } from './sessions/session-row.ts'
export { STEPS, type StepRow, toStepRow } from './steps/step-row.ts'
export {
  type ChangedStepColumns,
  endsStep,
  STEP_CHANGES,
  toChangedStepColumns,
} from './steps/step-writes.ts'
export { closedError, report, type StorageHost } from './storage-host.ts'
export { keepTokens } from './tokens/known-tokens.ts'
