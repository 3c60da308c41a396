export {
  APPROVAL_STATUS_NAMES,
  type ApprovalStatus,
  isDecision,
  isOpenApproval,
  type ResolvedApprovalStatus,
} from './approval-statuses.ts'
export { CHAT_SUBJECT_PREFIX } from './chat-subjects.ts'
export { CLOSE_CODES, type CloseCodeSpec, type CloseName } from './close-codes.ts'
export { type ServerConfig, type ServerConfigInput, ServerConfigSchema } from './config/config.ts'
export { type ConfigField, type ConfigFieldType, configFields, envNameOf } from './config/config-fields.ts'
export { CONSOLE_CALLBACK } from './config/console.ts'
export {
  HOOK_PLATFORMS,
  type HookConfig,
  type HookHmac,
  type HookJwt,
  type HookPlatform,
  type HookTarget,
  type HookVerify,
} from './config/hooks.ts'
export { isSymmetric, JWT_ALGORITHMS, type JwtClaims, type JwtIssuer } from './config/jwt.ts'
export { SecretReference } from './config/values.ts'
export { type Described, type Documented, documentationOf, memberOf } from './documented.ts'
export { DURATION_FORMS, type Duration, toMilliseconds } from './duration.ts'
export { errorLine } from './error-line.ts'
export { ERRORS, type ErrorCode, type ErrorSpec, START_ERRORS, type StartErrorKind } from './errors.ts'
export { errorsOf } from './errors-of.ts'
export {
  AGENT_EVENT_SUBJECTS,
  EVENT_TYPE,
  EVENTS,
  type EventPayloads,
  type EventSpec,
  type EventType,
  isAgentEventType,
  pieceOf,
  RESERVED_EVENT_FAMILIES,
} from './events.ts'
export {
  PROVIDER_FAILURES,
  PROVIDER_STATUS_RULES,
  type ProviderFailureKind,
  type ProviderStatusRule,
  TOOL_FAILURES,
  type ToolFailureKind,
} from './failures.ts'
export {
  ClientFrame,
  ErrorFrame,
  EventFrame,
  REPLAY_GAP,
  ReplayGap,
  RPC_METHODS,
  RpcErrorFrame,
  type RpcMethod,
  type RpcMethodSpec,
  SUBPROTOCOL,
  TICKET_PREFIX,
} from './frames.ts'
export { HOOK_DELIVERY_STATUSES } from './hook-delivery-statuses.ts'
export { ID_PREFIXES, IDEMPOTENCY_KEY, IdempotencyKey, type IdKind, OPERATOR_ID, OperatorId, Timestamp } from './ids.ts'
export type { HookRequest, HookVerification, IncomingDelivery } from './incoming-delivery.ts'
export {
  applyJsonPatch,
  type JsonPatch,
  JsonPatchOperation,
  type JsonPatchStep,
  type Patched,
} from './json-patch.ts'
export { type JsonSize, jsonSize, MAX_JSON_DEPTH } from './json-size.ts'
export { createJsonVersion, type JsonVersion } from './json-version.ts'
export { METRICS, type MetricName, type MetricSpec } from './metrics.ts'
export { ModelPrice, ModelPrices } from './model-prices.ts'
export { namedTarget, targetName } from './named-target.ts'
export { nearest } from './nearest.ts'
export {
  changesState,
  METHODS,
  type Operation,
  type OperationInput,
  type OperationTable,
  type ResponseSpec,
  type ScopeRule,
} from './operation.ts'
export { agentOperations } from './operations/agents.ts'
export { approvalOperations } from './operations/approvals.ts'
export { auditOperations } from './operations/audit.ts'
export { chatOperations } from './operations/chats.ts'
export { consoleOperations } from './operations/console.ts'
export { consolidatorOperations } from './operations/consolidator.ts'
export { docsOperations } from './operations/docs.ts'
export { fileOperations } from './operations/files.ts'
export { GROUP_SUMMARIES } from './operations/group-summaries.ts'
export { healthOperations } from './operations/health.ts'
export { hookOperations } from './operations/hooks.ts'
export { ALL_TABLES, OPERATION_TABLES, OPERATIONS, type OperationGroup } from './operations/index.ts'
export { mcpOperations } from './operations/mcp.ts'
export { memoryOperations } from './operations/memory.ts'
export { metricOperations } from './operations/metrics.ts'
export { namedEventOperations } from './operations/named-events.ts'
export { nodeOperations } from './operations/nodes.ts'
export { PARAMETER_MEANINGS } from './operations/parameter-meanings.ts'
export { realtimeOperations } from './operations/realtime.ts'
export { runOperations } from './operations/runs.ts'
export { sessionOperations } from './operations/sessions.ts'
export { skillOperations } from './operations/skills.ts'
export { subjectOperations } from './operations/subjects.ts'
export { tokenOperations } from './operations/tokens.ts'
export { triggerOperations } from './operations/triggers.ts'
export { webhookOperations } from './operations/webhooks.ts'
export { workflowOperations } from './operations/workflows.ts'
export { PATCH_LIMITS } from './patching.ts'
export {
  type ClientErrorCode,
  isPerdureError,
  PerdureError,
  type PerdureErrorCode,
  type PerdureErrorDetails,
  StartError,
} from './perdure-error.ts'
export { isPlainObject } from './plain-object.ts'
export type { UiRole } from './protocols/ai-sdk/schemas.ts'
export { PROTOCOL_NAMES, PROTOCOLS, type ProtocolName, perProtocol, protocolOf } from './protocols/index.ts'
export type { Protocol, ShownError } from './protocols/protocol.ts'
export { Agent, AgentState, CONCURRENCY_POLICIES, ON_BUSY } from './resources/agents.ts'
export { Approval, ResolveApprovalRequest } from './resources/approvals.ts'
export { AuditEntry, AuditFilterEntries, AuditVerification, VerifyAuditRequest } from './resources/audit.ts'
export { Budget } from './resources/budgets.ts'
export { Chat, newChatIdProblem, pathIdProblem } from './resources/chats.ts'
export {
  ConsoleCode,
  ConsoleSession,
  ConsoleSystem,
  ConsoleTarget,
  MetricHistory,
  SignInRequest,
} from './resources/console.ts'
export {
  CONSOLIDATOR_PHASES,
  ConsolidateRequest,
  Consolidator,
  ConsolidatorPhase,
  DeadLetter,
  QueuedJobs,
} from './resources/consolidator.ts'
export { EventEnvelope } from './resources/event-envelope.ts'
export { type CheckStatus, Health, Liveness, Readiness } from './resources/health.ts'
export { Hook, HookDelivery, HookDeliveryStatus, HookDeliverySummary, TestHookRequest } from './resources/hooks.ts'
export { type NamedSchema, type NamedSchemas, SCHEMAS } from './resources/index.ts'
export { CaseRequest, KeptCase, KeptRun } from './resources/kept-cases.ts'
export { listOf, PageEntries } from './resources/list.ts'
export {
  BindMcpServerRequest,
  CallToolRequest,
  McpServer,
  type McpStatus,
  McpTool,
  ToolResult,
} from './resources/mcp.ts'
export {
  Block,
  CreateFactRequest,
  Fact,
  MemoryConflict,
  PutBlockRequest,
  ResolveConflictRequest,
  SearchRequest,
  SearchResult,
  UpdateFactRequest,
} from './resources/memory.ts'
export { isReservedKey, Metadata, RESERVED_METADATA } from './resources/metadata.ts'
export { EmitEventRequest, EmittedEvent, EmittedEventName } from './resources/named-events.ts'
export { ClusterHealth, ClusterNode } from './resources/nodes.ts'
export { CHAT_ROLES, type ChatRole } from './resources/part-events.ts'
export type { ReceiptState } from './resources/queued-messages.ts'
export { ClientToolResult, Decision, ReplayRequest, ResumeRequest } from './resources/replay.ts'
export { LOG_LEVELS, type LogLevel, RunLogLine } from './resources/run-logs.ts'
export {
  FINISH_REASONS,
  FinishReason,
  RunError,
  RunLinks,
  RunOutcome,
  RunStatus,
  RunUsage,
} from './resources/run-outcome.ts'
export { AbortRequest, ForkRunRequest, RerunRequest, RetryRunRequest, RunRequest } from './resources/run-requests.ts'
export { ListedRun, Run } from './resources/runs.ts'
export { SecretsHealth } from './resources/secrets-health.ts'
export { CreateSessionRequest, Message, MessageRole, Session, UpdateSessionRequest } from './resources/sessions.ts'
export { InstallSkillRequest, Skill, SkillDocument } from './resources/skills.ts'
export { ERASED_NOUNS, ErasedData, type ErasedNoun, SubjectUsage } from './resources/subjects.ts'
export { MintedToken, MintTokenRequest, RevokedSubject, RotateTokenRequest, Token } from './resources/tokens.ts'
export {
  type CatchUp,
  CreateTriggerRequest,
  Fire,
  FireReceipt,
  type FireStatus,
  type Overlap,
  PrunedTriggers,
  Trigger,
  type TriggerKind,
  UpcomingFire,
  UpcomingFires,
} from './resources/triggers.ts'
export {
  CreateWebhookRequest,
  Delivery,
  DeliveryStatus,
  Webhook,
  WebhookEvents,
  WebhookOwner,
  WebhookTargets,
  WebhookUrl,
  WebhookWithSecret,
} from './resources/webhooks.ts'
export {
  type CallKind,
  type CallStatus,
  Checkpoint,
  ExecuteRequest,
  ForkRequest,
  ResumeThreadRequest,
  ThreadState,
  Workflow,
  WorkflowOutcome,
} from './resources/workflows.ts'
export { WsTicket } from './resources/ws-ticket.ts'
export { RPC_CODES, type RpcCodeSpec, type RpcErrorName } from './rpc-codes.ts'
export {
  ACTIVE_RUN_STATUSES,
  ENDED_RUN_STATUSES,
  type EndedRunStatus,
  isTerminal,
  RUN_ENDING_EVENTS,
  RUN_STATUS_NAMES,
  RUN_STATUSES,
  type RunStatusName,
} from './run-statuses.ts'
export {
  ADMIN_SCOPE,
  isGrantable,
  OWNED_RESOURCES,
  parseScope,
  SCOPES,
  type Scope,
  type ScopeName,
  type ScopeSpec,
} from './scopes.ts'
export {
  GEN_AI_PROVIDERS,
  SPAN_ATTRIBUTES,
  SPANS,
  type SpanAttribute,
  type SpanAttributeSpec,
  type SpanAttributes,
  type SpanAttributesOf,
  type SpanName,
  type SpanSpec,
  spanTitle,
} from './spans.ts'
export type { DefinedTypes, ResultOf, SentTo, Stored } from './stored.ts'
export {
  formatSubject,
  type ParsedSubject,
  parseSubject,
  SUBJECTS,
  type SubjectName,
  type SubjectParams,
  scopesOfSubject,
} from './subjects.ts'
export { formatToken, isWellFormedToken, TOKEN_ENVS, TOKEN_PREFIX, type TokenEnv } from './token-format.ts'
export { matchesEvent, scopesOfEvents, WEBHOOK_EVENTS, type WebhookEventType } from './webhook-events.ts'
