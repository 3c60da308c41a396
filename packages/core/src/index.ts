export { PerdureError, StartError } from '@perdure/ports'
export type { ApprovalResource } from './approvals/approval-resource.ts'
export type { SubmittedDecision } from './approvals/decision.ts'
export type { DecisionRef } from './approvals/match-decisions.ts'
export type { ReadApprovals } from './approvals/read-approvals.ts'
export type { ResolveApproval } from './approvals/resolve-approval.ts'
export type { AdmitRequest } from './audit/admit-request.ts'
export { type Audit, type AuditDeps, type AuditHealth, createAudit } from './audit/audit.ts'
export type { AuditResource } from './audit/audit-resource.ts'
export { auditingUnitOfWork } from './audit/audit-unit-of-work.ts'
export { type AuditActor, auditWrite } from './audit/audit-write.ts'
export type { AuditExport, ExportAudit } from './audit/export-audit.ts'
export type { AuditFilter, ListAudit } from './audit/read-audit.ts'
export type { AnsweredRequest, RecordAnswer } from './audit/record-answer.ts'
export type { AuditVerification, ExpectedPrefix, VerifyAudit } from './audit/verify-audit.ts'
export { type Auth, type AuthDeps, createAuth } from './auth/auth.ts'
export {
  type Authenticate,
  type AuthenticateDeps,
  authenticateAnyone,
  createAuthenticate,
} from './auth/authenticate.ts'
export type { JwtIssuer } from './auth/authenticate-jwt.ts'
export { authorizeOperation, authorizeTarget } from './auth/authorize.ts'
export { type CallerFacts, callerProblem, type RunCaller, toCallerText } from './auth/caller.ts'
export type { CookieTags } from './auth/cookie-tags.ts'
export {
  type CredentialLoss,
  type CredentialWatch,
  type CredentialWatchDeps,
  createCredentialWatch,
  type WatchCredential,
  withCredentialCheck,
} from './auth/credential-watch.ts'
export { type CsrfTokens, createCsrfTokens } from './auth/csrf-tokens.ts'
export type { IssuedToken, IssueToken, TokenForUser } from './auth/issue-token.ts'
export { holderOf } from './auth/jwt-credential.ts'
export {
  type AttemptLimiter,
  createAttemptLimiter,
  createLockout,
  LOCKOUT,
  type Lockout,
  NO_ATTEMPT_LIMIT,
} from './auth/lockout.ts'
export { createManageTokens, type ManageTokens, type ManageTokensDeps } from './auth/manage-tokens.ts'
export type { MintToken, NewToken } from './auth/new-token.ts'
export { HOST_SUBJECT_PREFIX, isSubjectName, type Principal, SUBJECT_NAME_RULE } from './auth/principal.ts'
export type { RevokeSubject } from './auth/revoke-subject.ts'
export { type IsRegistered, scopeWarnings } from './auth/scope-warnings.ts'
export { createTokenUseCases, type TokenUseCases, type TokenUseCasesDeps } from './auth/token-use-cases.ts'
export { webhooksOfToken } from './auth/webhooks-of-token.ts'
export { createChats, type DeleteChat, type ForkChat, type ReadChats, type UpdateChat } from './chats/chats.ts'
export { type BoundedMap, createBoundedMap } from './collections/bounded-map.ts'
export { createCommit, publishing } from './commit/create-commit.ts'
export { createKeyedMutex } from './concurrency/mutex.ts'
export { type ConsolidatorGroup, createConsolidator } from './consolidator/consolidator.ts'
export type { ConsolidatorLoop } from './consolidator/consolidator-loop.ts'
export type { ConsolidatorCheck, ConsolidatorState } from './consolidator/consolidator-state.ts'
export type { QueueConsolidation } from './consolidator/queue-consolidation.ts'
export type { ReadConsolidator } from './consolidator/read-consolidator.ts'
export { createDeclarationWatch } from './declarations/declaration-watch.ts'
export { DECLARED_NOUNS, type DeclaredNoun } from './declarations/declared-nouns.ts'
export type { ApprovalDecision, ApprovalOptions } from './durable/approvals/approval-options.ts'
export type {
  Authoring,
  DataOptions,
  FileReference,
  SourceReference,
  StateWriter,
  TextWriter,
} from './durable/authoring.ts'
export type { ClientToolCall } from './durable/client-tool.ts'
export type { Effect } from './durable/effect.ts'
export { executingRun } from './durable/executing-run.ts'
export { answersIn, type LoggedAnswer, type LoggedAnswers } from './durable/logged-answers.ts'
export type { ModelAnswer, ModelCall, StallOptions } from './durable/model-call.ts'
export * from './durable/model-request.ts'
export { type OwnResult, ownResultOf, withOwnResult } from './durable/own-result.ts'
export type { ResultFiles, ShownResultFile, StoredResult } from './durable/result-files.ts'
export type { ServiceCaller } from './durable/service-caller.ts'
export type { RepeatOptions, RetryOptions, StepContext, StepFn, StepOnCrash, StepOptions } from './durable/step.ts'
export { isCutOffStep } from './durable/step-call.ts'
export type { MakeStream, StreamOptions } from './durable/stream-call.ts'
export type { SuspendApproval, SuspendRequest, Suspension } from './durable/suspension.ts'
export type { ToolApproval, ToolCall, ToolContext, ToolOutcome } from './durable/tool.ts'
export { createPricing, HOW_TO_PRICE, type PriceUsage, type Pricing, pricesOf } from './durable/usage/model-pricing.ts'
export type { UsageReport } from './durable/usage/usage-report.ts'
export type { WaitOptions } from './durable/wait-call.ts'
export type { AbortAgent } from './engine/abort-agent.ts'
export { isGenerator } from './engine/emit-all.ts'
export type { EngineDeps, EngineLimits } from './engine/engine-deps.ts'
export type { ForeignChanges } from './engine/foreign-changes.ts'
export type { ForkRun, ForkRunRequest } from './engine/forks/fork-run.ts'
export { clientToolCalls, type SentToolResult } from './engine/match-tool-results.ts'
export type { EditMessage, WithdrawMessage } from './engine/queued-message.ts'
export type { Recovered } from './engine/recover-runs.ts'
export type { CheckedRun, RunForecast } from './engine/rehearsal/check-runs.ts'
export type { ReplayCause, ReplayedRun, ReplayFilter } from './engine/rehearsal/replay-runs.ts'
export type { ResumeRun } from './engine/resume-run.ts'
export type { RunLoad } from './engine/run-load.ts'
export { traceIdOf } from './engine/run-log.ts'
export type { StartRunRequest } from './engine/start-request.ts'
export type { RunRequestBody, StartRun } from './engine/start-run.ts'
export { createEngine, type Engine } from './engine.ts'
export type { DeleteFile } from './files/delete-file.ts'
export { fileIdOf } from './files/file-url.ts'
export { createFiles } from './files/files.ts'
export type { OpenFile, ReadFiles } from './files/read-files.ts'
export type { FileLimits, ReceivedFile, ReceiveFile } from './files/receive-file.ts'
export type { NewFile, RunFiles, WrittenFile } from './files/run-files.ts'
export type { StoreDataUrl } from './files/store-data-url.ts'
export type { StoreFile } from './files/store-file.ts'
export { type AppendedDelta, appendDelta } from './fold/append-delta.ts'
export { appendedText } from './fold/appended-text.ts'
export { askingItems, type Block, type Content, itemIn } from './fold/content.ts'
export { beginFold, type FoldState, foldEvent, foldLog, hasEnded, isStateEvent, transcriptOf } from './fold/fold.ts'
export { DENIED_WITHOUT_REASON } from './fold/fold-tools.ts'
export { type ItemChange, itemChanges, itemKey } from './fold/item-changes.ts'
export { type Fields, fieldsOf, isFields, type LogEvent, textIn } from './fold/log-event.ts'
export { outputText } from './fold/output-text.ts'
export { awaitsClient, clientCallsOf, waitsForAnswer } from './fold/rest.ts'
export type * from './fold/transcript.ts'
export { receivedMessage } from './fold/user-message.ts'
export { createReadHealth, type HealthDocument, type ReadHealth } from './health/read-health.ts'
export { type Hook, type Hooks, hookTriggers } from './hooks/hook.ts'
export { createHooks, type ReceivingHooks } from './hooks/hooks.ts'
export { createKeyRequest, type KeyRequest } from './idempotency/key-request.ts'
export { type KeyedRequest, parseIdempotencyKey, type RequestIdentity } from './idempotency/keyed-request.ts'
export { type AnswerCache, withReadCache } from './idempotency/read-cache.ts'
export { createRecall, type Recall } from './idempotency/recall.ts'
export type { Reply } from './idempotency/reply.ts'
export type { JsonParts } from './json/json-list-parts.ts'
export { jsonPageParts, lengthOfItems, type PageItem, textOfItem, textOfParts } from './json/json-page.ts'
export type { Daemon } from './lifecycle/daemon.ts'
export { createEmitter } from './lifecycle/emitter.ts'
export { createLateBound } from './lifecycle/late-bound.ts'
export { createPhase, type Phase, type PhaseHolder } from './lifecycle/phase.ts'
export { CONFIRM_STEP_MS, createTrustedClock, type TrustedClock } from './lifecycle/trusted-clock.ts'
export type { ManageMcp } from './mcp/manage-mcp.ts'
export { createMcp, createMcpService } from './mcp/mcp.ts'
export type { ConfiguredMcpServer } from './mcp/mcp-servers.ts'
export type { McpCallOptions, RunMcp } from './mcp/run-mcp.ts'
export { withMcpSpans } from './mcp/traced-mcp.ts'
export { interruptCalls, type UseMcp } from './mcp/use-mcp.ts'
export type { FactChange, FactInput } from './memory/fact-decisions.ts'
export { createMemory, type Memory } from './memory/memory.ts'
export type { BlockResource, FactResource } from './memory/memory-resources.ts'
export type { ReadMemory } from './memory/read-memory.ts'
export type { ResolveMemoryConflict } from './memory/resolve-conflict.ts'
export type { RunBlock, RunMemory, RunSearchOptions } from './memory/run-memory.ts'
export type { SearchHit, SearchMemory } from './memory/search-memory.ts'
export type { EmbedderCheck } from './memory/vectors.ts'
export type { BlockInput, WriteBlocks } from './memory/write-blocks.ts'
export type { WriteFacts } from './memory/write-facts.ts'
export { NO_FINISH } from './model-parts/ai-sdk-parts.ts'
export type { StreamPart, TokenUsage, ToolDeclaration } from './model-parts/stream-part.ts'
export { createReadChunk, isStreamSource, type StreamSource } from './model-parts/stream-source.ts'
export { createStreamWriter, type StreamedToolCall, type StreamSummary } from './model-parts/stream-writer.ts'
export { createManageNodes, type ManageNodes } from './nodes/manage-nodes.ts'
export { createNodeWatch, type NodeWatch } from './nodes/node-watch.ts'
export {
  classifyProviderResponse,
  type ProviderHeaders,
  type ProviderResponse,
} from './providers/classify-provider-response.ts'
export { type FallbackCandidate, type FallbackOptions, fallback } from './providers/fallback.ts'
export { ProviderError, type ProviderErrorOptions } from './providers/provider-error.ts'
export { createRetry, type ProviderRetryOptions, type Retry, type RetryDeps, type RetryFn } from './providers/retry.ts'
export { ToolError, type ToolErrorOptions } from './providers/tool-error.ts'
export {
  createSlidingWindow,
  emptyWindow,
  type SlidingWindow,
  type Take,
  takeFrom,
  type WindowState,
} from './rate-limit/sliding-window.ts'
export {
  type AuthorizedSubject,
  type AuthorizeSubject,
  canFollowAny,
  createAuthorizeSubject,
} from './realtime/authorize-subject.ts'
export type { DeliveredEvent, EventSource } from './realtime/delivered-event.ts'
export { eachEvent } from './realtime/each-event.ts'
export { createRenderEnvelope, type EnvelopeOptions, type RenderEnvelope } from './realtime/envelope.ts'
export type { EventEnvelope } from './realtime/event-envelope.ts'
export { createEventFeed, type EventFeed, type FeedPage } from './realtime/event-feed.ts'
export { createEventHub, type EventHub, type Watcher } from './realtime/event-hub.ts'
export { type Cursor, formatEventId, parseEventId } from './realtime/event-id.ts'
export { createHotCache, type HotCache, type HotCacheLimits, type HotCacheStats } from './realtime/hot-cache.ts'
export type { IssueTicket } from './realtime/issue-ticket.ts'
export { createLogFollower } from './realtime/log-follower.ts'
export { createLogWatch } from './realtime/log-watch.ts'
export { createRealtime, type Realtime, type RealtimeDeps } from './realtime/realtime.ts'
export { type SanitizerPolicy, sanitizeText } from './realtime/sanitize.ts'
export type { Tickets } from './realtime/tickets.ts'
export * from './recording/recording-of.ts'
export { createReplay, type Recording, type Replay, type ReplayPage, recordedLog } from './replay/replay.ts'
export { createRetention } from './retention/retention.ts'
export type { AbortRun, AbortRunRequest } from './runs/abort-request.ts'
export { BUDGET_CALL } from './runs/budget-error.ts'
export { createListRuns, type ListRuns } from './runs/list-runs.ts'
export { NonRetryableError } from './runs/non-retryable-error.ts'
export type { Divergence, MissingVersion, ParkReason } from './runs/parked.ts'
export type { ListRunsQuery, ReadRuns } from './runs/read-runs.ts'
export { runSubject } from './runs/run-events.ts'
export type { RunResource } from './runs/run-outcome.ts'
export { RUN_TRANSITIONS } from './runs/run-states.ts'
export type { OutcomeInfo } from './runs/run-waiters.ts'
export { ownFrames } from './runs/stack-text.ts'
export { awaitsResume } from './runs/stored-suspension.ts'
export * from './scoring/scoring.ts'
export { partsOfInput } from './sessions/answer-parts.ts'
export { EXTERNAL_CHAT_ID, findChatSession, MESSAGE_ID, MESSAGE_REF } from './sessions/chat-session-id.ts'
export type { CreateSession } from './sessions/create-session.ts'
export type { DeleteSession } from './sessions/delete-session.ts'
export type { ExportSession } from './sessions/export-session.ts'
export { conversationOf } from './sessions/own-question.ts'
export { type QueuedMessageResource, toQueuedMessage } from './sessions/queued-message-resource.ts'
export type { ReadSessions } from './sessions/read-sessions.ts'
export { chatOfOther } from './sessions/refuse-other-agent.ts'
export type { RunSession } from './sessions/run-session.ts'
export type { MessagePart, SessionMessage, ToolCallOutcome } from './sessions/session-message.ts'
export type { MessageResource, SessionResource } from './sessions/session-resource.ts'
export { createSessionService, createSessions, type KeepCase, type KeptRun } from './sessions/sessions.ts'
export type { UpdateSession } from './sessions/update-session.ts'
export { type ConsoleAccess, createConsoleAccess } from './sign-in/console-access.ts'
export type { ConsoleSession, SignedIn } from './sign-in/console-session.ts'
export type { ConsoleSessions, SignInRequest } from './sign-in/console-sessions.ts'
export type { ProviderSignIn } from './sign-in/provider-sign-in.ts'
export { createRunSkills, type RunSkills } from './skills/run-skills.ts'
export { joinSkillStores } from './skills/skill-library.ts'
export { createSkills, type ManageSkills, type ReadSkills } from './skills/skills.ts'
export { createSubjects, type EraseSubject, type ExportSubject, type ReadSubjectUsage } from './subjects/subjects.ts'
export type { Agent, AgentEvent, AgentRegistration, Returned, RunCode, Yielded } from './targets/agent.ts'
export { type AgentRegistry, createAgentRegistry } from './targets/agent-registry.ts'
export { CHAT_ROLES, type ChatInput, type ChatMessage, type ChatPart, type ChatTool } from './targets/chat-input.ts'
export { checkInput } from './targets/check-input.ts'
export { CODE_PARTS, codePartsOf } from './targets/code-parts.ts'
export {
  type AgentDefinition,
  type Definition,
  defineAgent,
  defineWorkflow,
  type WorkflowDefinition,
} from './targets/definition.ts'
export type { ConvertSchema } from './targets/describe-schema.ts'
export type {
  Concurrency,
  ConcurrencyLimit,
  Debounce,
  FlowKey,
  FlowKeyMeta,
  RateLimit,
} from './targets/flow-control.ts'
export { inputFromChat } from './targets/input-from-chat.ts'
export type { Invocable } from './targets/invocable.ts'
export type { AgentResource, AgentStateResource, ReadAgents } from './targets/read-agents.ts'
export type { ReadWorkflows } from './targets/read-workflows.ts'
export { codeOf, mapCode } from './targets/registered-code.ts'
export type {
  BudgetOptions,
  OnBusy,
  OnBusyWaiting,
  ProtocolError,
  ProtocolOptions,
  RegistrationOptions,
  RunOnCrash,
} from './targets/registration.ts'
export type { EmitOptions, Resume, RunContext, StartedRun, StartOptions } from './targets/run-context.ts'
export type { CreateRunServices, RunServices } from './targets/run-services.ts'
export type { RunTarget, RunTargets } from './targets/run-target.ts'
export type { StandardSchemaV1 } from './targets/standard-schema.ts'
export { targetsOf } from './targets/target-registry.ts'
export type { Workflow, WorkflowRegistration } from './targets/workflow.ts'
export { createWorkflowRegistry, type WorkflowRegistry } from './targets/workflow-registry.ts'
export type { CreateTrigger } from './triggers/create-trigger.ts'
export { checkTriggers, triggerFingerprint } from './triggers/declare-triggers.ts'
export { defineTrigger } from './triggers/define-trigger.ts'
export type { FireByHand } from './triggers/fire-by-hand.ts'
export type { EventFires, FireEventTriggers, FireHookTriggers, NamedEvent } from './triggers/fire-event-triggers.ts'
export { kindOf as triggerKindOf } from './triggers/kinds/trigger-kinds.ts'
export type { ManageTriggers } from './triggers/manage-triggers.ts'
export type { ReadTriggers } from './triggers/read-triggers.ts'
export type { TriggerDaemon, TriggerHealth } from './triggers/trigger-daemon.ts'
export type { TriggerRegistration } from './triggers/trigger-definition.ts'
export { createTriggers, type Triggers, type TriggersDeps } from './triggers/triggers.ts'
export { type ConfiguredWebhook, declareWebhooks, webhookFingerprint } from './webhooks/declare-webhooks.ts'
export type { WebhookDaemon } from './webhooks/webhook-daemon.ts'
export { EVERY_OWNER } from './webhooks/webhook-resource.ts'
export { keyOf as webhookKeyOf } from './webhooks/webhook-secret.ts'
export { createWebhooks, type ManageDeliveries, type ManageWebhooks, type Webhooks } from './webhooks/webhooks.ts'
export type { DeleteThread } from './workflows/delete-thread.ts'
export type { EmitEvent } from './workflows/emit-event.ts'
export { type ForkRequest, type ForkThreadDeps, forkThread } from './workflows/fork-thread.ts'
export type { PlanEvent } from './workflows/plan-event.ts'
export type { ResumeWorkflow } from './workflows/resume-workflow.ts'
export type { WorkflowThreads } from './workflows/workflow-threads.ts'
