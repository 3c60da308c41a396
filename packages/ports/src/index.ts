export {
  type ApprovalStatus,
  type CatchUp,
  type DeliveryStatus,
  type FireStatus,
  type HookDeliveryStatus,
  type McpStatus,
  type Overlap,
  PerdureError,
  StartError,
} from '@perdure/protocol'
export type {
  ApprovalFilter,
  ApprovalRecord,
  ApprovalResolution,
  ApprovalStore,
} from './approval-store.ts'
export {
  type AuditKeys,
  appendEntry,
  auditEvent,
  baseMac,
  type ChainDigest,
  GENESIS_HASH,
  headMac,
  linkEntry,
  NO_AUDIT_KEY,
  RESTORED,
  UNVOUCHED,
} from './audit-chain.ts'
export type {
  AuditEntry,
  AuditHead,
  AuditLink,
  AuditLog,
  AuditState,
  NewAuditEntry,
  StagedAuditEntry,
} from './audit-log.ts'
export type { BlobStore, ByteRange, StoredBlob } from './blob-store.ts'
export type { BlockRecord, BlockRef, BlockStore } from './block-store.ts'
export type {
  ChatChange,
  ChatFilter,
  ChatMessageBrief,
  ChatRecord,
  ChatStore,
  ChatWrite,
  ListedChat,
  NewChat,
} from './chat-store.ts'
export type { CheckJson } from './check-json.ts'
export type { AuditCheckpoint, CheckpointLine, CheckpointLog } from './checkpoint-log.ts'
export { type Clock, type EpochMs, MAX_CLOCK_SKEW_MS, plusMs } from './clock.ts'
export {
  type ClaimQuery,
  type Cluster,
  type ClusterTarget,
  type DepartedProcess,
  DUTIES,
  type Duty,
  hasRightClock,
  type RunLine,
  soleNode,
} from './cluster.ts'
export { type CommitSignal, signalsOf } from './commit-signals.ts'
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
export type { CronRule, CronSchedule } from './cron-schedule.ts'
export type {
  DeliveryChange,
  DeliveryCounts,
  DeliveryRecord,
  DeliveryStore,
} from './delivery-store.ts'
export { isDescriptorShortage } from './descriptor-shortage.ts'
export { type Digest, sha256OfBytes } from './digest.ts'
export type { Embedder } from './embedder.ts'
export type { EmissionPart, EmissionStore } from './emission-store.ts'
export type {
  EventLog,
  EventPhase,
  EventRange,
  EventStream,
  LogHead,
  LogScan,
  NewEvent,
  StoredEvent,
} from './event-log.ts'
export { MAX_SCANNED } from './event-log.ts'
export type { FactFilter, FactGroup, FactRecord, FactStore, FactUpkeep, VectorQuery } from './fact-store.ts'
export { type FileFilter, type FileRecord, type FileStore, type FileUsage, MAX_INLINE_BYTES } from './file-store.ts'
export type { FileWrite, FileWriteConflict } from './file-writes.ts'
export type { FireChange, FireRecord, FireStore } from './fire-store.ts'
export type {
  HookDeliveryRecord,
  HookDeliveryStore,
  HookOutcome,
} from './hook-delivery-store.ts'
export type {
  HookVerdict,
  HookVerifier,
  HookVerifierOptions,
  HookVerifiers,
  UnsignedHookRequest,
} from './hook-verifier.ts'
export type { HookWrite } from './hook-writes.ts'
export type { IdGenerator } from './id-generator.ts'
export type { IdempotencyRecord, IdempotencyStore, StoredResponse } from './idempotency-store.ts'
export type { JobCounts, JobError, JobPhase, JobQueue, JobRecord, NewJob } from './job-queue.ts'
export type { JwtKeys, JwtRules, JwtVerdict, JwtVerifier, VerifyJwt } from './jwt-verifier.ts'
export {
  LANE_CLOCK_TOLERANCE_MS,
  type LaneSlot,
  type LaneStore,
  type TakenSlot,
  type TakenSlotQuery,
} from './lane-store.ts'
export type { LockoutRecord, LockoutStore } from './lockout-store.ts'
export type {
  LogFollower,
  LogTail,
  TailedCommits,
  TailedEvent,
  TailState,
  WatchedStreams,
} from './log-tail.ts'
export type { LogFields, Logger } from './logger.ts'
export type { McpCall, McpClient, McpEndpoint, McpOutcome, McpTool } from './mcp-client.ts'
export type { McpServerRecord, McpServerStore } from './mcp-server-store.ts'
export type { MemoryConflictRecord, MemoryConflictResolution, MemoryConflictStore } from './memory-conflict-store.ts'
export type { MemoryWrite } from './memory-writes.ts'
export {
  type Exposition,
  type Meter,
  type MetricLabels,
  type MetricSeries,
  noMeter,
  type ReadableMeter,
} from './meter.ts'
export { isNamedError, NamedError } from './named-error.ts'
export { type DurableCall, EXECUTING_RUN, type ExecutingRun, type Nesting, noNesting } from './nesting.ts'
export {
  type ClusterLoad,
  type NodeDirectory,
  type NodeIdentity,
  type NodeRecord,
  nodeDeclaration,
  nodeTarget,
} from './node-directory.ts'
export {
  contentBytes,
  MAX_PAGE_BYTES,
  type Page,
  type PageQuery,
  type PageStart,
  takeWithin,
  takeWithinPage,
} from './page.ts'
export { isRefusal, perdureError, type Refusal, type RefusalOptions } from './perdure-error.ts'
export type { RemoteFileLimits, RemoteFiles } from './remote-files.ts'
export { EVERY_ROW, type RowAccess, type Visibility } from './row-access.ts'
export { endFields, filterFields, type RunField, type RunLabels, startFields } from './run-fields.ts'
export {
  type ErrorCause,
  type FailedCall,
  type FinishReason,
  type FlowKeys,
  type ForkOrigin,
  type ListedRun,
  NO_USAGE,
  type OutlinedRun,
  RUN_CONTENT,
  type RunBudget,
  type RunChange,
  type RunContent,
  type RunError,
  type RunFilter,
  type RunKind,
  type RunPageQuery,
  type RunRecord,
  type RunStatus,
  type RunStore,
  type RunUsage,
  sumUsage,
} from './run-store.ts'
export type { RunTimers, StartRange } from './run-timers.ts'
export type { Sealer } from './sealer.ts'
export type { ResolvedSecret, SecretResolver } from './secret-resolver.ts'
export {
  CHANGING_SESSION_FIELDS,
  type ChangingSession,
  type IdleQuery,
  type MessageBrief,
  type MessageRecord,
  type NewMessage,
  type OutlinedMessage,
  type SessionChange,
  type SessionFilter,
  type SessionRecord,
  type SessionStore,
} from './session-store.ts'
export type { ProviderUnavailable, SignInCheck, SignInProvider, SignInVerdict } from './sign-in-provider.ts'
export type { SkillContent, SkillStore, SkillSummary } from './skill-store.ts'
export type {
  EndedRange,
  EventWaitRange,
  OutlinedStep,
  ResultFile,
  StepChange,
  StepKind,
  StepPartRange,
  StepRange,
  StepRecord,
  StepStatus,
  StepStore,
} from './step-store.ts'
export type { Storage, StorageServerStatus, StorageStatus } from './storage.ts'
export { isLeaseLost, isRetryable, isStorageBusy, isStorageError, leaseLost, storageBusy } from './storage-error.ts'
export type { SubjectRevocation, SubjectRevocationStore } from './subject-revocation-store.ts'
export {
  countsPerDay,
  dayOf,
  endOfDay,
  oldestKeptDay,
  reachedLimit,
  type SubjectLimits,
  type SubjectUsage,
  startOfDay,
  usageOfDeleted,
} from './subject-usage.ts'
export type { StreamAnswer, TextSink, TextStream } from './text-stream.ts'
export type { TicketLimits, TicketRecord, TicketStore } from './ticket-store.ts'
export { createPauses, type Timers, type YieldTurn } from './timers.ts'
export type { TokenRecord, TokenStore } from './token-store.ts'
export { noSpan, noTracer, type Span, type SpanEnd, type Tracer } from './tracer.ts'
export type {
  Activity,
  TriggerMembers,
  TriggerOf,
  TriggerOverview,
  TriggerRecord,
  TriggerRule,
  TriggerStore,
  TriggerTarget,
} from './trigger-store.ts'
export type {
  CommitOutcome,
  Conflict,
  RequestOrigin,
  UnitOfWork,
  Write,
  WriteType,
} from './unit-of-work.ts'
export { canonicalJson } from './values/canonical-json.ts'
export { concatBytes } from './values/concat-bytes.ts'
export { definedMembers } from './values/defined-members.ts'
export { fromJsonText, type JsonText, toJsonText, utf8Length } from './values/json-text.ts'
export { MAX_SEARCH_CANDIDATES, type SearchedText, searchByWords, type WordIndex } from './values/search-by-words.ts'
export { isStoredText, MAX_SHORT_BYTES, type StoredText, type WithStored } from './values/stored-text.ts'
export {
  JSON_LIMITS,
  jsonOrText,
  type ParsedInTurns,
  parseStrictInTurns,
  parseStrictJson,
  parseStrictText,
} from './values/strict-json.ts'
export { endOfPart } from './values/text-part.ts'
export { wordsOf } from './values/words.ts'
export type { WebhookRequest, WebhookResponse, WebhookSender } from './webhook-sender.ts'
export type { WebhookRecord, WebhookSecret, WebhookStore } from './webhook-store.ts'
export type { WebhookLimits, WebhookWrite, WebhookWriteConflict } from './webhook-writes.ts'
