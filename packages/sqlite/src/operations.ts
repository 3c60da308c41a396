import { dueApprovals, findApproval, listApprovals, nextApprovalDueAt } from './rows/approval-store.ts'
import { readAudit, readAuditBefore, readAuditLinks, readAuditState, readStaged } from './rows/audit-log.ts'
import { findBlock, listBlocks } from './rows/block-store.ts'
import { commitWrites } from './rows/commit-writes.ts'
import { extractedThrough, idleSessions, spentOn } from './rows/consolidation-store.ts'
import {
  countDeliveries,
  dueRetries,
  findDelivery,
  listDeliveries,
  unattemptedDeliveries,
} from './rows/delivery-store.ts'
import { listEmissions } from './rows/emission-store.ts'
import { countEvents, readEvents, readEventsBefore, readLogHead, scanEvents } from './rows/event-log.ts'
import { findFact, listFacts, nearestFacts, searchFacts } from './rows/fact-store.ts'
import { expiredFacts, factsWeighedBefore, repeatedFacts, unembeddedFacts } from './rows/fact-upkeep.ts'
import { findFire, firstPendingFires, listFires } from './rows/fire-store.ts'
import { findIdempotency, findRunIds, holdsLegacyIds } from './rows/idempotency-store.ts'
import { countJobs, dueJobs, findJob, findLiveJob, listDeadLetters, nextJobDueAt } from './rows/job-queue.ts'
import { takenSlots } from './rows/lane-store.ts'
import { findMcpServer, listMcpServers } from './rows/mcp-server-store.ts'
import { findMemoryConflict, listMemoryConflicts, openMemoryConflicts } from './rows/memory-conflict-store.ts'
import { runsNeedingFollowUp } from './rows/run-follow-ups.ts'
import { runOwners } from './rows/run-owners.ts'
import { findRun, listRuns, outlineRuns } from './rows/run-store.ts'
import { nextDeadlineAt, nextStartAt, runsPastDeadline, runsStarting } from './rows/run-timers.ts'
import { findSession, listMessages, listSessions, outlineMessages, sessionsIdleSince } from './rows/session-store.ts'
import {
  briefSteps,
  completedSteps,
  dueSteps,
  findStep,
  listSteps,
  nextDueAt,
  stepsWaitingForEvent,
  stepWaitingForChild,
} from './rows/step-store.ts'
import { readTextPart } from './rows/text-part.ts'
import { findToken, findTokenByDigest, findTokens, listTokens, rootOfToken } from './rows/token-store.ts'
import {
  dueTriggers,
  findTrigger,
  lastActivity,
  listTriggers,
  triggerOverview,
  triggersOfEvent,
} from './rows/trigger-store.ts'
import { findWebhook, listWebhooks } from './rows/webhook-store.ts'

/**
 * Every operation of a host: plain synchronous functions of a connection and one argument. Arguments and results are
 * structured-cloneable, so a host may run them in another thread.
 */
export const READS = {
  'runs.find': findRun,
  'runs.list': listRuns,
  'runs.outline': outlineRuns,
  'runs.owners': runOwners,
  'runs.needingFollowUp': runsNeedingFollowUp,
  'runTimers.pastDeadline': runsPastDeadline,
  'runTimers.nextDeadlineAt': nextDeadlineAt,
  'runTimers.starting': runsStarting,
  'runTimers.nextStartAt': nextStartAt,
  'lanes.taken': takenSlots,
  'steps.list': listSteps,
  'steps.listBriefly': briefSteps,
  'steps.completed': completedSteps,
  'steps.find': findStep,
  'steps.due': dueSteps,
  'steps.nextDueAt': nextDueAt,
  'steps.waitingForEvent': stepsWaitingForEvent,
  'steps.waitingForChild': stepWaitingForChild,
  'approvals.find': findApproval,
  'approvals.list': listApprovals,
  'approvals.due': dueApprovals,
  'approvals.nextDueAt': nextApprovalDueAt,
  'emissions.list': listEmissions,
  'events.read': readEvents,
  'events.readBefore': readEventsBefore,
  'events.count': countEvents,
  'events.head': readLogHead,
  'events.scan': scanEvents,
  'idempotency.find': findIdempotency,
  'idempotency.runIds': findRunIds,
  'idempotency.holdsLegacyIds': holdsLegacyIds,
  'sessions.find': findSession,
  'sessions.list': listSessions,
  'sessions.messages': listMessages,
  'sessions.outlineMessages': outlineMessages,
  'sessions.idleSince': sessionsIdleSince,
  'texts.part': readTextPart,
  'tokens.find': findToken,
  'tokens.findMany': findTokens,
  'tokens.findByDigest': findTokenByDigest,
  'tokens.rootOf': rootOfToken,
  'tokens.list': listTokens,
  'audit.read': readAudit,
  'audit.readBefore': readAuditBefore,
  'audit.links': readAuditLinks,
  'audit.state': readAuditState,
  'audit.staged': readStaged,
  'triggers.find': findTrigger,
  'triggers.list': listTriggers,
  'triggers.due': dueTriggers,
  'triggers.listByEvent': triggersOfEvent,
  'triggers.overview': triggerOverview,
  'triggers.lastActivity': lastActivity,
  'fires.find': findFire,
  'fires.list': listFires,
  'fires.firstPending': firstPendingFires,
  'mcpServers.find': findMcpServer,
  'mcpServers.list': listMcpServers,
  'facts.find': findFact,
  'facts.list': listFacts,
  'facts.search': searchFacts,
  'facts.nearest': nearestFacts,
  'factUpkeep.repeated': repeatedFacts,
  'factUpkeep.expired': expiredFacts,
  'factUpkeep.weighedBefore': factsWeighedBefore,
  'factUpkeep.unembedded': unembeddedFacts,
  'blocks.find': findBlock,
  'blocks.list': listBlocks,
  'memoryConflicts.find': findMemoryConflict,
  'memoryConflicts.list': listMemoryConflicts,
  'memoryConflicts.listOpenByFacts': openMemoryConflicts,
  'jobs.find': findJob,
  'jobs.findLive': findLiveJob,
  'jobs.due': dueJobs,
  'jobs.nextDueAt': nextJobDueAt,
  'jobs.deadLetters': listDeadLetters,
  'jobs.counts': countJobs,
  'consolidation.idleSessions': idleSessions,
  'consolidation.extractedThrough': extractedThrough,
  'consolidation.spentOn': spentOn,
  'webhooks.find': findWebhook,
  'webhooks.list': listWebhooks,
  'deliveries.find': findDelivery,
  'deliveries.list': listDeliveries,
  'deliveries.unattempted': unattemptedDeliveries,
  'deliveries.retries': dueRetries,
  'deliveries.counts': countDeliveries,
} as const

/** If a write throws or returns `committed: false`, the host rolls it back and may then run it again. */
export const WRITES = { commit: commitWrites } as const

export type ReadName = keyof typeof READS
export type ReadRequest<Name extends ReadName> = Parameters<(typeof READS)[Name]>[1]
export type ReadResult<Name extends ReadName> = ReturnType<(typeof READS)[Name]>

export type WriteName = keyof typeof WRITES
export type WriteRequest<Name extends WriteName> = Parameters<(typeof WRITES)[Name]>[1]
export type WriteResult<Name extends WriteName> = ReturnType<(typeof WRITES)[Name]>
