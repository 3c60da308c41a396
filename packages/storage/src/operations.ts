import type { CommitOutcome, Write } from '@perdure/ports'
import {
  approvalsToRemind,
  dueApprovals,
  findApproval,
  listApprovals,
  nextApprovalDueAt,
  nextReminderAt,
} from './approvals/approval-store.ts'
import { readAudit, readAuditBefore, readAuditLinks, readAuditState, readStaged } from './audit/audit-log.ts'
import { findChat, listChats } from './chats/chat-store.ts'
import { listEmissions } from './events/emission-store.ts'
import { countEvents, readEvents, readEventsBefore, readLogHead, scanEvents } from './events/event-log.ts'
import {
  fileContent,
  fileHolders,
  fileUsage,
  findFile,
  findSameFile,
  hashesInUse,
  holdingRuns,
  listFiles,
} from './files/file-store.ts'
import { findHookDelivery, findReceived, listHookDeliveries } from './hooks/hook-delivery-store.ts'
import { findIdempotencies, findIdempotency, findRunIds, holdsLegacyIds } from './keys/idempotency-store.ts'
import { findMcpServer, listMcpServers } from './mcp/mcp-server-store.ts'
import { findBlock, listBlocks } from './memory/block-store.ts'
import { extractedThrough, idleSessions, spentOn } from './memory/consolidation-store.ts'
import { findFact, listFacts, nearestFacts, searchFacts } from './memory/fact-store.ts'
import { expiredFacts, factsWeighedBefore, repeatedFacts, unembeddedFacts } from './memory/fact-upkeep.ts'
import { countJobs, dueJobs, findJob, findLiveJob, listDeadLetters, nextJobDueAt } from './memory/job-queue.ts'
import { findMemoryConflict, listMemoryConflicts, openMemoryConflicts } from './memory/memory-conflict-store.ts'
import type { Program } from './program.ts'
import type { Db } from './query/dialect.ts'
import type { TextPart } from './query/text-ref.ts'
import { takenSlots } from './runs/lane-store.ts'
import { runsNeedingFollowUp } from './runs/run-follow-ups.ts'
import { runOwners } from './runs/run-owners.ts'
import { findRun, listRuns, outlineRuns } from './runs/run-store.ts'
import { nextDeadlineAt, nextStartAt, runsPastDeadline, runsStarting } from './runs/run-timers.ts'
import { subjectUsage } from './runs/subject-usage.ts'
import {
  findSession,
  listMessages,
  listSessions,
  outlineMessages,
  sessionsIdleSince,
} from './sessions/session-store.ts'
import {
  briefSteps,
  completedSteps,
  dueSteps,
  endedSteps,
  findStep,
  listSteps,
  nextDueAt,
  readSteps,
  stepsWaitingForEvent,
  stepWaitingForChild,
} from './steps/step-store.ts'
import { findSubjectRevocations } from './tokens/subject-revocation-store.ts'
import { findToken, findTokenByDigest, findTokens, listTokens, rootOfToken } from './tokens/token-store.ts'
import { findFire, firstPendingFires, listFires } from './triggers/fire-store.ts'
import {
  dueTriggers,
  findTrigger,
  lastActivity,
  listTriggers,
  triggerOverview,
  triggersOfEvent,
  triggersOfHook,
} from './triggers/trigger-store.ts'
import {
  countDeliveries,
  dueRetries,
  findDelivery,
  listDeliveries,
  unattemptedDeliveries,
} from './webhooks/delivery-store.ts'
import { findWebhook, listWebhooks } from './webhooks/webhook-store.ts'

/**
 * Every read: a program of one argument. Arguments and results are structured-cloneable, so a host may run it in another
 * thread.
 */
const READS = {
  'runs.find': findRun,
  'runs.list': listRuns,
  'runs.outline': outlineRuns,
  'runs.owners': runOwners,
  'runs.usage': subjectUsage,
  'runs.needingFollowUp': runsNeedingFollowUp,
  'runTimers.pastDeadline': runsPastDeadline,
  'runTimers.nextDeadlineAt': nextDeadlineAt,
  'runTimers.starting': runsStarting,
  'runTimers.nextStartAt': nextStartAt,
  'lanes.taken': takenSlots,
  'steps.list': listSteps,
  'steps.read': readSteps,
  'steps.listBriefly': briefSteps,
  'steps.ended': endedSteps,
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
  'approvals.toRemind': approvalsToRemind,
  'approvals.nextReminderAt': nextReminderAt,
  'emissions.list': listEmissions,
  'events.read': readEvents,
  'events.readBefore': readEventsBefore,
  'events.count': countEvents,
  'events.head': readLogHead,
  'events.scan': scanEvents,
  'idempotency.find': findIdempotency,
  'idempotency.findMany': findIdempotencies,
  'idempotency.runIds': findRunIds,
  'idempotency.holdsLegacyIds': holdsLegacyIds,
  'sessions.find': findSession,
  'sessions.list': listSessions,
  'sessions.messages': listMessages,
  'sessions.outlineMessages': outlineMessages,
  'sessions.idleSince': sessionsIdleSince,
  'chats.find': findChat,
  'chats.list': listChats,
  'texts.part': readTextPart,
  'tokens.find': findToken,
  'tokens.findMany': findTokens,
  'tokens.findByDigest': findTokenByDigest,
  'tokens.rootOf': rootOfToken,
  'tokens.list': listTokens,
  'subjectRevocations.find': findSubjectRevocations,
  'audit.read': readAudit,
  'audit.readBefore': readAuditBefore,
  'audit.links': readAuditLinks,
  'audit.state': readAuditState,
  'audit.staged': readStaged,
  'triggers.find': findTrigger,
  'triggers.list': listTriggers,
  'triggers.due': dueTriggers,
  'triggers.listByEvent': triggersOfEvent,
  'triggers.listByHook': triggersOfHook,
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
  'hookDeliveries.find': findHookDelivery,
  'hookDeliveries.findReceived': findReceived,
  'hookDeliveries.list': listHookDeliveries,
  'files.find': findFile,
  'files.content': fileContent,
  'files.holders': fileHolders,
  'files.holdingRuns': holdingRuns,
  'files.list': listFiles,
  'files.usage': fileUsage,
  'files.findSame': findSameFile,
  'files.inUse': hashesInUse,
} as const

export type ReadName = keyof typeof READS
export type ReadRequest<Name extends ReadName> = Parameters<(typeof READS)[Name]>[1]
export type ReadResult<Name extends ReadName> =
  ReturnType<(typeof READS)[Name]> extends Program<infer Result> ? Result : never

/** One read as a program. */
export const readProgram = <Name extends ReadName>(
  db: Db,
  name: Name,
  request: ReadRequest<Name>,
): Program<ReadResult<Name>> => {
  const read = READS[name] as (db: Db, request: ReadRequest<Name>) => Program<ReadResult<Name>>
  return read(db, request)
}

/** Runs reads and commits on a database. */
export interface StorageHost {
  /** Sees every acknowledged commit. */
  read<Name extends ReadName>(name: Name, request: ReadRequest<Name>): Promise<ReadResult<Name>>
  /** Resolves when the writes are durable, or refused. */
  commit(writes: readonly Write[]): Promise<CommitOutcome>
}

function* readTextPart(db: Db, part: TextPart): Program<Uint8Array | undefined> {
  return yield* db.textPart(part)
}
