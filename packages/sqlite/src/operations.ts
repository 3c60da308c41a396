import { dueApprovals, findApproval, listApprovals, nextApprovalDueAt } from './approval-store.ts'
import { readAudit, readAuditBefore, readAuditLinks, readAuditState, readStaged } from './audit-log.ts'
import { findBlock, listBlocks } from './block-store.ts'
import { commitWrites } from './commit-writes.ts'
import { extractedThrough, idleSessions, spentOn } from './consolidation-store.ts'
import { listEmissions } from './emission-store.ts'
import { countEvents, readEvents, readEventsBefore, readLogHead } from './event-log.ts'
import { findFact, listFacts, nearestFacts, searchFacts } from './fact-store.ts'
import { expiredFacts, factsWeighedBefore, repeatedFacts, unembeddedFacts } from './fact-upkeep.ts'
import { findFire, firstPendingFires, listFires } from './fire-store.ts'
import { findIdempotency, holdsHashedIds } from './idempotency-store.ts'
import { countJobs, dueJobs, findAliveJob, findJob, listDeadLetters, nextJobDueAt } from './job-queue.ts'
import { findMcpServer, listMcpServers } from './mcp-server-store.ts'
import { findMemoryConflict, listMemoryConflicts, openMemoryConflicts } from './memory-conflict-store.ts'
import { findRun, listRuns, nextDeadlineAt, runsPastDeadline } from './run-store.ts'
import { findSession, listMessages, listSessions, sessionsIdleSince } from './session-store.ts'
import { dueSteps, findStep, listSteps, nextDueAt, stepsWaitingForEvent, stepWaitingForChild } from './step-store.ts'
import { findToken, findTokenByDigest, findTokens, listTokens } from './token-store.ts'
import {
  dueTriggers,
  findTrigger,
  lastActivity,
  listTriggers,
  triggerOverview,
  triggersOfEvent,
} from './trigger-store.ts'

/**
 * Everything a host can be asked to do: plain synchronous functions of a connection and one argument. Arguments and
 * results can be structurally cloned, so a host may run them in another thread.
 */
export const READS = {
  'runs.find': findRun,
  'runs.list': listRuns,
  'runs.pastDeadline': runsPastDeadline,
  'runs.nextDeadlineAt': nextDeadlineAt,
  'steps.list': listSteps,
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
  'idempotency.find': findIdempotency,
  'idempotency.holdsHashedIds': holdsHashedIds,
  'sessions.find': findSession,
  'sessions.list': listSessions,
  'sessions.messages': listMessages,
  'sessions.idleSince': sessionsIdleSince,
  'tokens.find': findToken,
  'tokens.findMany': findTokens,
  'tokens.findByDigest': findTokenByDigest,
  'tokens.list': listTokens,
  'audit.read': readAudit,
  'audit.readBefore': readAuditBefore,
  'audit.links': readAuditLinks,
  'audit.state': readAuditState,
  'audit.staged': readStaged,
  'triggers.find': findTrigger,
  'triggers.list': listTriggers,
  'triggers.due': dueTriggers,
  'triggers.ofEvent': triggersOfEvent,
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
  'memoryConflicts.openOf': openMemoryConflicts,
  'jobs.find': findJob,
  'jobs.findAlive': findAliveJob,
  'jobs.due': dueJobs,
  'jobs.nextDueAt': nextJobDueAt,
  'jobs.deadLetters': listDeadLetters,
  'jobs.counts': countJobs,
  'consolidation.idleSessions': idleSessions,
  'consolidation.extractedThrough': extractedThrough,
  'consolidation.spentOn': spentOn,
} as const

/** The host undoes one when its result says `committed: false` or when it throws, and may run it again then. */
export const WRITES = { commit: commitWrites } as const

export type ReadName = keyof typeof READS
export type ReadRequest<Name extends ReadName> = Parameters<(typeof READS)[Name]>[1]
export type ReadResult<Name extends ReadName> = ReturnType<(typeof READS)[Name]>

export type WriteName = keyof typeof WRITES
export type WriteRequest<Name extends WriteName> = Parameters<(typeof WRITES)[Name]>[1]
export type WriteResult<Name extends WriteName> = ReturnType<(typeof WRITES)[Name]>
