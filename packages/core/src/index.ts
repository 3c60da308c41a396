export type {
  Agent,
  AgentContext,
  AgentEvent,
  AgentRegistration,
  Concurrency,
  EmitOptions,
  OnBusy,
  Recovery,
} from './agents/agent.ts'
export { type AgentResource, type AgentStateResource, createReadAgents, type ReadAgents } from './agents/read-agents.ts'
export { type AgentRegistry, createAgentRegistry, type RegisteredAgent } from './agents/registry.ts'
export {
  type Authenticate,
  type AuthenticateDeps,
  authenticateAnyone,
  createAuthenticate,
} from './auth/authenticate.ts'
export { authorize } from './auth/authorize.ts'
export { createManageTokens, type ManageTokens, type ManageTokensDeps, type MintToken } from './auth/manage-tokens.ts'
export type { Principal } from './auth/principal.ts'
export { createReadHealth, type HealthDocument, type ReadHealth } from './health/read-health.ts'
export {
  type KeyedRequest,
  keyRequest,
  parseIdempotencyKey,
  type RequestIdentity,
} from './idempotency/keyed-request.ts'
export { withReadCache } from './idempotency/read-cache.ts'
export { createRecall, type Recall } from './idempotency/recall.ts'
export { createPhase, type Phase, type PhaseHolder } from './lifecycle/phase.ts'
export { createSlidingWindow, type SlidingWindow, type Take } from './rate-limit/sliding-window.ts'
export { renderEnvelope } from './realtime/envelope.ts'
export { createEventHub, type EventHub, withPublication } from './realtime/event-hub.ts'
export { type Cursor, formatEventId, parseEventId } from './realtime/event-id.ts'
export type { Reply } from './reply.ts'
export { type AbortAgent, createAbortAgent } from './runs/abort-agent.ts'
export { type AbortRun, type AbortRunRequest, createAbortRun } from './runs/abort-run.ts'
export { type Admission, createAdmission } from './runs/admission.ts'
export { type DrainRunsDeps, releaseRuns, waitForRuns } from './runs/drain-runs.ts'
export { createReadRuns, type EventEnvelope, type ListRunsQuery, type ReadRuns } from './runs/read-runs.ts'
export { lineUpRuns, type Recovered, type RecoverRunsDeps, recoverRuns } from './runs/recover-runs.ts'
export { runSubject } from './runs/run-events.ts'
export type { RunResource } from './runs/run-outcome.ts'
export { isTerminal, RUN_TRANSITIONS } from './runs/run-states.ts'
export { createRunner, type Runner } from './runs/runner.ts'
export { createSettlements, type Settlements } from './runs/settlements.ts'
export { createStartRun, type RunRequestBody, type StartRun, type StartRunRequest } from './runs/start-run.ts'
