import type { IdempotencyStore, Storage } from '@perdure/ports'
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
import { findIdempotency, findRunIds, holdsLegacyIds } from './keys/idempotency-store.ts'
import { findMcpServer, listMcpServers } from './mcp/mcp-server-store.ts'
import { findBlock, listBlocks } from './memory/block-store.ts'
import { extractedThrough, idleSessions, spentOn } from './memory/consolidation-store.ts'
import { findFact, listFacts, nearestFacts, searchFacts } from './memory/fact-store.ts'
import { expiredFacts, factsWeighedBefore, repeatedFacts, unembeddedFacts } from './memory/fact-upkeep.ts'
import { countJobs, dueJobs, findJob, findLiveJob, listDeadLetters, nextJobDueAt } from './memory/job-queue.ts'
import { findMemoryConflict, listMemoryConflicts, openMemoryConflicts } from './memory/memory-conflict-store.ts'
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
import type { StorageHost } from './storage-host.ts'
import { withStoredTexts } from './stored-texts.ts'
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

export interface StoreOptions {
  /** Replaces the read of one record, for a host that reads several at once. */
  readonly findIdempotency?: IdempotencyStore['find']
}

/** The storage ports; each method is one operation of the host. */
export const createStores = (
  host: StorageHost,
  { findIdempotency: find = (id, now) => host.read(findIdempotency, { id, now }) }: StoreOptions = {},
): Omit<Storage, 'status' | 'close'> => ({
  unitOfWork: { commit: (writes) => host.commit(writes) },
  runs: {
    find: (id, visibility) => host.read(findRun, { id, visibility }),
    list: (filter, page, visibility) => host.read(listRuns, { filter, page, visibility }),
    outline: (filter, page, visibility) => withStoredTexts(host, host.read(outlineRuns, { filter, page, visibility })),
    owners: (limit) => host.read(runOwners, limit),
    usage: (subject, now) => host.read(subjectUsage, { subject, now }),
    needingFollowUp: (limit) => host.read(runsNeedingFollowUp, { limit }),
  },
  runTimers: {
    pastDeadline: (now, limit) => host.read(runsPastDeadline, { now, limit }),
    nextDeadlineAt: () => host.read(nextDeadlineAt),
    starting: (range, limit) => host.read(runsStarting, { ...range, limit }),
    nextStartAt: (after) => host.read(nextStartAt, { after }),
  },
  lanes: { taken: (query) => host.read(takenSlots, query) },
  steps: {
    list: (runId, content) => host.read(listSteps, { runId, content }),
    read: (runId, range) => host.read(readSteps, { runId, ...range }),
    listBriefly: (runId, range) => host.read(briefSteps, { runId, ...range }),
    ended: (runId, range) => host.read(endedSteps, { runId, ...range }),
    completed: (runId, page) => withStoredTexts(host, host.read(completedSteps, { runId, page })),
    find: (runId, seq) => host.read(findStep, { runId, seq }),
    due: (now, limit) => host.read(dueSteps, { now, limit }),
    nextDueAt: () => host.read(nextDueAt),
    waitingForEvent: (eventName, range) => host.read(stepsWaitingForEvent, { eventName, ...range }),
    waitingForChild: (childRunId) => host.read(stepWaitingForChild, childRunId),
  },
  approvals: {
    find: (id, visibility) => host.read(findApproval, { id, visibility }),
    list: (filter, page, visibility) => host.read(listApprovals, { filter, page, visibility }),
    due: (now, limit) => host.read(dueApprovals, { now, limit }),
    nextDueAt: () => host.read(nextApprovalDueAt),
    toRemind: (now, limit) => host.read(approvalsToRemind, { now, limit }),
    nextReminderAt: () => host.read(nextReminderAt),
  },
  emissions: { list: (limit) => host.read(listEmissions, limit) },
  events: {
    read: (stream, range) => host.read(readEvents, { stream, range }),
    readBefore: (stream, range) => host.read(readEventsBefore, { stream, range }),
    count: (stream, range) => host.read(countEvents, { stream, range }),
    head: () => host.read(readLogHead),
    scan: (types, range) => host.read(scanEvents, { types, range }),
  },
  idempotency: {
    find,
    runIds: (ids, now) => host.read(findRunIds, { ids, now }),
    holdsLegacyIds: (now) => host.read(holdsLegacyIds, now),
  },
  sessions: {
    find: (id, visibility) => host.read(findSession, { id, visibility }),
    list: (filter, page, visibility) => host.read(listSessions, { filter, page, visibility }),
    messages: (sessionId, page) => host.read(listMessages, { sessionId, page }),
    outlineMessages: (sessionId, page) => withStoredTexts(host, host.read(outlineMessages, { sessionId, page })),
    idleSince: (query) => host.read(sessionsIdleSince, query),
  },
  chats: {
    find: (id, visibility) => host.read(findChat, { id, visibility }),
    list: (filter, page, visibility) => host.read(listChats, { filter, page, visibility }),
  },
  tokens: {
    find: (id) => host.read(findToken, id),
    findMany: (ids) => host.read(findTokens, ids),
    findByDigest: (digest) => host.read(findTokenByDigest, digest),
    rootOf: (id) => host.read(rootOfToken, id),
    list: (page) => host.read(listTokens, page),
  },
  subjectRevocations: { find: (subjects) => host.read(findSubjectRevocations, subjects) },
  audit: {
    read: (range) => host.read(readAudit, range),
    readBefore: (range) => host.read(readAuditBefore, range),
    links: (range) => host.read(readAuditLinks, range),
    state: () => host.read(readAuditState),
    staged: (limit) => host.read(readStaged, limit),
  },
  triggers: {
    find: (id) => host.read(findTrigger, id),
    list: (page) => host.read(listTriggers, page),
    due: (now, limit) => host.read(dueTriggers, { now, limit }),
    listByEvent: (event, part) => host.read(triggersOfEvent, { event, ...part }),
    listByHook: (hook, part) => host.read(triggersOfHook, { hook, ...part }),
    overview: () => host.read(triggerOverview),
    lastActivity: (sessionId) => host.read(lastActivity, sessionId),
  },
  fires: {
    find: (id) => host.read(findFire, id),
    list: (filter, page) => host.read(listFires, { filter, page }),
    firstPending: (limit) => host.read(firstPendingFires, limit),
  },
  mcpServers: {
    find: (id) => host.read(findMcpServer, id),
    list: () => host.read(listMcpServers),
  },
  facts: {
    find: (id, at) => host.read(findFact, { id, ...at }),
    list: (filter, page) => host.read(listFacts, { filter, page }),
    search: (text, filter, limit) => host.read(searchFacts, { text, filter, limit }),
    nearest: (query, filter, limit) => host.read(nearestFacts, { query, filter, limit }),
  },
  factUpkeep: {
    repeated: (range, limit) => host.read(repeatedFacts, { range, limit }),
    expired: (range, limit) => host.read(expiredFacts, { range, limit }),
    weighedBefore: (range, limit) => host.read(factsWeighedBefore, { range, limit }),
    unembedded: (limit) => host.read(unembeddedFacts, limit),
  },
  blocks: {
    find: (ref) => host.read(findBlock, ref),
    list: (namespace, page, visibility) => host.read(listBlocks, { namespace, page, visibility }),
  },
  memoryConflicts: {
    find: (id, visibility) => host.read(findMemoryConflict, { id, visibility }),
    list: (namespace, page, visibility) => host.read(listMemoryConflicts, { namespace, page, visibility }),
    listOpenByFacts: (factIds) => host.read(openMemoryConflicts, factIds),
  },
  jobs: {
    find: (id) => host.read(findJob, id),
    findLive: (key) => host.read(findLiveJob, key),
    due: (phases, now, limit) => host.read(dueJobs, { phases, now, limit }),
    nextDueAt: (phases) => host.read(nextJobDueAt, phases),
    deadLetters: (page) => host.read(listDeadLetters, page),
    counts: () => host.read(countJobs),
  },
  consolidation: {
    idleSessions: (before, limit) => host.read(idleSessions, { before, limit }),
    extractedThrough: (sessionId) => host.read(extractedThrough, sessionId),
    spentOn: (day) => host.read(spentOn, day),
  },
  webhooks: {
    find: (id) => host.read(findWebhook, id),
    list: () => host.read(listWebhooks),
  },
  deliveries: {
    find: (id) => host.read(findDelivery, id),
    list: (filter, page) => host.read(listDeliveries, { filter, page }),
    unattempted: (webhookId, limit) => host.read(unattemptedDeliveries, { webhookId, limit }),
    retries: (webhookId, now, limit) => host.read(dueRetries, { webhookId, now, limit }),
    counts: () => host.read(countDeliveries),
  },
  hookDeliveries: {
    find: (id) => host.read(findHookDelivery, id),
    findReceived: (hookId, deliveryId) => host.read(findReceived, { hookId, deliveryId }),
    list: (filter, page) => host.read(listHookDeliveries, { filter, page }),
  },
  files: {
    find: (id, visibility) => host.read(findFile, { id, visibility }),
    content: (id) => host.read(fileContent, id),
    holders: (id) => host.read(fileHolders, id),
    holdingRuns: (id, limit) => host.read(holdingRuns, { id, limit }),
    list: (filter, page, visibility) => host.read(listFiles, { filter, page, visibility }),
    usage: (owner) => host.read(fileUsage, owner),
    findSame: (file) => host.read(findSameFile, file),
    inUse: (hashes) => host.read(hashesInUse, hashes),
  },
})
