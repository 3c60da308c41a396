export { AppError, type AppErrorOptions, StartError } from './app-error.ts'
export type {
  ApprovalFilter,
  ApprovalRecord,
  ApprovalResolution,
  ApprovalStatus,
  ApprovalStore,
} from './approval-store.ts'
export { GENESIS_HASH, linkEntry } from './audit-chain.ts'
export type { AuditEntry, AuditLog, NewAuditEntry } from './audit-log.ts'
export type { BlockRecord, BlockRef, BlockStore } from './block-store.ts'
export { canonicalJson } from './canonical-json.ts'
export { type Clock, type EpochMs, plusMs } from './clock.ts'
export type { ChangedSession, ConsolidationSpend, ConsolidationStore } from './consolidation-store.ts'
export type {
  ConsolidationJob,
  ConsolidationReads,
  ConsolidatorPhase,
  ConsolidatorPhases,
  FactRevision,
  FoundFact,
  PhaseResult,
} from './consolidator-phases.ts'
export type { ConsolidatorWrite } from './consolidator-writes.ts'
export type { Digest } from './digest.ts'
export type { Embedder } from './embedder.ts'
export type { EmissionPart, EmissionStore } from './emission-store.ts'
export type { EventLog, EventPhase, EventRange, EventStream, LogHead, NewEvent, StoredEvent } from './event-log.ts'
export type { FactFilter, FactGroup, FactRecord, FactStore, FactUpkeep, VectorQuery } from './fact-store.ts'
export type { IdGenerator } from './id-generator.ts'
export type { IdempotencyRecord, IdempotencyStore, StoredResponse } from './idempotency-store.ts'
export type { JobCounts, JobError, JobPhase, JobQueue, JobRecord, NewJob } from './job-queue.ts'
export { fromJsonText, type JsonText, toJsonText } from './json-text.ts'
export type { LogFields, Logger } from './logger.ts'
export type { MemoryConflictRecord, MemoryConflictResolution, MemoryConflictStore } from './memory-conflict-store.ts'
export type { MemoryWrite } from './memory-writes.ts'
export { type Exposition, type Meter, type MetricLabels, noMeter, type ReadableMeter } from './meter.ts'
export type { Page, PageQuery } from './page.ts'
export { EVERY_ROW, type RowAccess, type Visibility } from './row-access.ts'
export {
  type FinishReason,
  NO_USAGE,
  type RunBudget,
  type RunChange,
  type RunError,
  type RunFilter,
  type RunKind,
  type RunRecord,
  type RunStatus,
  type RunStore,
  type RunUsage,
} from './run-store.ts'
export type { Sealer } from './sealer.ts'
export type { ResolvedSecret, SecretResolver } from './secret-resolver.ts'
export type { MessageRecord, NewMessage, SessionRecord, SessionStore } from './session-store.ts'
export type { StepChange, StepKind, StepRecord, StepStatus, StepStore } from './step-store.ts'
export type { Storage, StorageStatus } from './storage.ts'
export type { Timers } from './timers.ts'
export type { TokenRecord, TokenStore } from './token-store.ts'
export type { CommitOutcome, Conflict, UnitOfWork, Write, WriteType } from './unit-of-work.ts'
export { wordsOf } from './words.ts'
