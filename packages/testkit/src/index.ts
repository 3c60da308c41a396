export { bodyOf } from './body-of.ts'
export {
  aFire,
  aMessage,
  anApproval,
  anEmissionPart,
  anEvent,
  anIdempotencyRecord,
  anMcpServer,
  aRun,
  aSession,
  aStep,
  aToken,
  aTrigger,
  BUILT_AT,
} from './builders.ts'
export { aChat } from './chat-builders.ts'
export { approvalStoreCases, approvalStoreContract } from './contracts/approval-store.contract.ts'
export { auditLogCases, auditLogContract } from './contracts/audit-log.contract.ts'
export {
  type BlobStoreCase,
  type BlobStoreHarness,
  blobStoreCases,
  blobStoreContract,
} from './contracts/blob-store.contract.ts'
export { blockStoreCases, blockStoreContract } from './contracts/block-store.contract.ts'
export { chatStoreCases, chatStoreContract } from './contracts/chat-store.contract.ts'
export { type CheckpointLogHarness, checkpointLogContract } from './contracts/checkpoint-log.contract.ts'
export { clusterCases, clusterContract } from './contracts/cluster.contract.ts'
export type { ClusterCase, ClusterHarness, ClusterMember, ClusterUnderTest } from './contracts/cluster-members.ts'
export { consolidationStoreCases, consolidationStoreContract } from './contracts/consolidation-store.contract.ts'
export type { ContractCase, ContractSkip, ContractSuite, StorageHarness } from './contracts/contract-case.ts'
export { deliveryStoreCases, deliveryStoreContract } from './contracts/delivery-store.contract.ts'
export { emissionStoreCases, emissionStoreContract } from './contracts/emission-store.contract.ts'
export { eventLogCases, eventLogContract } from './contracts/event-log.contract.ts'
export { factStoreCases, factStoreContract } from './contracts/fact-store.contract.ts'
export { factUpkeepCases, factUpkeepContract } from './contracts/fact-upkeep.contract.ts'
export { fileStoreCases, fileStoreContract } from './contracts/file-store.contract.ts'
export { fireStoreCases, fireStoreContract } from './contracts/fire-store.contract.ts'
export { hookDeliveryStoreCases, hookDeliveryStoreContract } from './contracts/hook-delivery-store.contract.ts'
export { idempotencyStoreCases, idempotencyStoreContract } from './contracts/idempotency-store.contract.ts'
export { jobQueueCases, jobQueueContract } from './contracts/job-queue.contract.ts'
export { laneStoreCases, laneStoreContract } from './contracts/lane-store.contract.ts'
export {
  type LockoutStoreCase,
  type LockoutStoreHarness,
  lockoutStoreCases,
  lockoutStoreContract,
} from './contracts/lockout-store.contract.ts'
export { type LogTailCase, type LogTailHarness, logTailCases, logTailContract } from './contracts/log-tail.contract.ts'
export { mcpServerStoreCases, mcpServerStoreContract } from './contracts/mcp-server-store.contract.ts'
export { memoryConflictStoreCases, memoryConflictStoreContract } from './contracts/memory-conflict-store.contract.ts'
export { runStoreCases, runStoreContract } from './contracts/run-store.contract.ts'
export { runTimersCases, runTimersContract } from './contracts/run-timers.contract.ts'
export { sessionStoreCases, sessionStoreContract } from './contracts/session-store.contract.ts'
export {
  REFUSED_SKILL_PATHS,
  type SkillFixture,
  type SkillStoreCase,
  type SkillStoreHarness,
  skillStoreCases,
  skillStoreContract,
} from './contracts/skill-store.contract.ts'
export { stepStoreCases, stepStoreContract } from './contracts/step-store.contract.ts'
export { STORAGE_SUITES, storageContract } from './contracts/storage.contract.ts'
export {
  subjectRevocationStoreCases,
  subjectRevocationStoreContract,
} from './contracts/subject-revocation-store.contract.ts'
export {
  type TextReader,
  type TextSinkHarness,
  textSinkCases,
  textSinkContract,
} from './contracts/text-sink.contract.ts'
export {
  type TicketStoreCase,
  type TicketStoreHarness,
  ticketStoreCases,
  ticketStoreContract,
} from './contracts/ticket-store.contract.ts'
export { tokenStoreCases, tokenStoreContract } from './contracts/token-store.contract.ts'
export { type SeenSpan, type TracerHarness, tracerCases, tracerContract } from './contracts/tracer.contract.ts'
export { triggerStoreCases, triggerStoreContract } from './contracts/trigger-store.contract.ts'
export { unitOfWorkCases, unitOfWorkContract } from './contracts/unit-of-work.contract.ts'
export { webhookStoreCases, webhookStoreContract } from './contracts/webhook-store.contract.ts'
export { createHashEmbedder, type HashEmbedderOptions } from './embedders.ts'
export { aFile } from './file-builders.ts'
export { type ForgedJwt, forgeJwt } from './forge-jwt.ts'
export { aHookDelivery, aHookOutcome } from './hook-builders.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { aBlock, aFact, aJob, aMemoryConflict } from './memory-builders.ts'
export { createRandom } from './random.ts'
export { createSequenceIds } from './sequence-ids.ts'
export { aDelivery, aWebhook } from './webhook-builders.ts'
export {
  createRandomFaults,
  type Fault,
  type FaultPlan,
  type RandomFaults,
  type RandomFaultsOptions,
  type StorageCall,
  withFaults,
} from './with-faults.ts'
