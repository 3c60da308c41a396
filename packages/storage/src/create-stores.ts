import type { IdempotencyStore, Storage } from '@perdure/ports'
import type { StorageHost } from './operations.ts'
import { withStoredTexts } from './stored-texts.ts'

export interface StoreOptions {
  /** Replaces the read of one record, for a host that reads several at once. */
  readonly findIdempotency?: IdempotencyStore['find']
}

/** The storage ports; each method is one operation of the host. */
export const createStores = (
  host: StorageHost,
  { findIdempotency = (id, now) => host.read('idempotency.find', { id, now }) }: StoreOptions = {},
): Omit<Storage, 'status' | 'close'> => ({
  unitOfWork: { commit: (writes) => host.commit(writes) },
  runs: {
    find: (id, visibility) => host.read('runs.find', { id, visibility }),
    list: (filter, page, visibility) => host.read('runs.list', { filter, page, visibility }),
    outline: (filter, page, visibility) =>
      withStoredTexts(host, host.read('runs.outline', { filter, page, visibility })),
    owners: (limit) => host.read('runs.owners', limit),
    usage: (subject, now) => host.read('runs.usage', { subject, now }),
    needingFollowUp: (limit) => host.read('runs.needingFollowUp', { limit }),
  },
  runTimers: {
    pastDeadline: (now, limit) => host.read('runTimers.pastDeadline', { now, limit }),
    nextDeadlineAt: () => host.read('runTimers.nextDeadlineAt', undefined),
    starting: (range, limit) => host.read('runTimers.starting', { ...range, limit }),
    nextStartAt: (after) => host.read('runTimers.nextStartAt', { after }),
  },
  lanes: { taken: (query) => host.read('lanes.taken', query) },
  steps: {
    list: (runId, content) => host.read('steps.list', { runId, content }),
    read: (runId, range) => host.read('steps.read', { runId, ...range }),
    listBriefly: (runId, range) => host.read('steps.listBriefly', { runId, ...range }),
    ended: (runId, range) => host.read('steps.ended', { runId, ...range }),
    completed: (runId, page) => withStoredTexts(host, host.read('steps.completed', { runId, page })),
    find: (runId, seq) => host.read('steps.find', { runId, seq }),
    due: (now, limit) => host.read('steps.due', { now, limit }),
    nextDueAt: () => host.read('steps.nextDueAt', undefined),
    waitingForEvent: (eventName, range) => host.read('steps.waitingForEvent', { eventName, ...range }),
    waitingForChild: (childRunId) => host.read('steps.waitingForChild', childRunId),
  },
  approvals: {
    find: (id, visibility) => host.read('approvals.find', { id, visibility }),
    list: (filter, page, visibility) => host.read('approvals.list', { filter, page, visibility }),
    due: (now, limit) => host.read('approvals.due', { now, limit }),
    nextDueAt: () => host.read('approvals.nextDueAt', undefined),
    toRemind: (now, limit) => host.read('approvals.toRemind', { now, limit }),
    nextReminderAt: () => host.read('approvals.nextReminderAt', undefined),
  },
  emissions: { list: (limit) => host.read('emissions.list', limit) },
  events: {
    read: (stream, range) => host.read('events.read', { stream, range }),
    readBefore: (stream, range) => host.read('events.readBefore', { stream, range }),
    count: (stream, range) => host.read('events.count', { stream, range }),
    head: () => host.read('events.head', undefined),
    scan: (types, range) => host.read('events.scan', { types, range }),
  },
  idempotency: {
    find: findIdempotency,
    runIds: (ids, now) => host.read('idempotency.runIds', { ids, now }),
    holdsLegacyIds: (now) => host.read('idempotency.holdsLegacyIds', now),
  },
  sessions: {
    find: (id, visibility) => host.read('sessions.find', { id, visibility }),
    list: (filter, page, visibility) => host.read('sessions.list', { filter, page, visibility }),
    messages: (sessionId, page) => host.read('sessions.messages', { sessionId, page }),
    outlineMessages: (sessionId, page) =>
      withStoredTexts(host, host.read('sessions.outlineMessages', { sessionId, page })),
    idleSince: (query) => host.read('sessions.idleSince', query),
  },
  chats: {
    find: (id, visibility) => host.read('chats.find', { id, visibility }),
    list: (filter, page, visibility) => host.read('chats.list', { filter, page, visibility }),
  },
  tokens: {
    find: (id) => host.read('tokens.find', id),
    findMany: (ids) => host.read('tokens.findMany', ids),
    findByDigest: (digest) => host.read('tokens.findByDigest', digest),
    rootOf: (id) => host.read('tokens.rootOf', id),
    list: (page) => host.read('tokens.list', page),
  },
  subjectRevocations: { find: (subjects) => host.read('subjectRevocations.find', subjects) },
  audit: {
    read: (range) => host.read('audit.read', range),
    readBefore: (range) => host.read('audit.readBefore', range),
    links: (range) => host.read('audit.links', range),
    state: () => host.read('audit.state', undefined),
    staged: (limit) => host.read('audit.staged', limit),
  },
  triggers: {
    find: (id) => host.read('triggers.find', id),
    list: (page) => host.read('triggers.list', page),
    due: (now, limit) => host.read('triggers.due', { now, limit }),
    listByEvent: (event, part) => host.read('triggers.listByEvent', { event, ...part }),
    listByHook: (hook, part) => host.read('triggers.listByHook', { hook, ...part }),
    overview: () => host.read('triggers.overview', undefined),
    lastActivity: (sessionId) => host.read('triggers.lastActivity', sessionId),
  },
  fires: {
    find: (id) => host.read('fires.find', id),
    list: (filter, page) => host.read('fires.list', { filter, page }),
    firstPending: (limit) => host.read('fires.firstPending', limit),
  },
  mcpServers: {
    find: (id) => host.read('mcpServers.find', id),
    list: () => host.read('mcpServers.list', undefined),
  },
  facts: {
    find: (id, at) => host.read('facts.find', { id, ...at }),
    list: (filter, page) => host.read('facts.list', { filter, page }),
    search: (text, filter, limit) => host.read('facts.search', { text, filter, limit }),
    nearest: (query, filter, limit) => host.read('facts.nearest', { query, filter, limit }),
  },
  factUpkeep: {
    repeated: (range, limit) => host.read('factUpkeep.repeated', { range, limit }),
    expired: (range, limit) => host.read('factUpkeep.expired', { range, limit }),
    weighedBefore: (range, limit) => host.read('factUpkeep.weighedBefore', { range, limit }),
    unembedded: (limit) => host.read('factUpkeep.unembedded', limit),
  },
  blocks: {
    find: (ref) => host.read('blocks.find', ref),
    list: (namespace, page, visibility) => host.read('blocks.list', { namespace, page, visibility }),
  },
  memoryConflicts: {
    find: (id, visibility) => host.read('memoryConflicts.find', { id, visibility }),
    list: (namespace, page, visibility) => host.read('memoryConflicts.list', { namespace, page, visibility }),
    listOpenByFacts: (factIds) => host.read('memoryConflicts.listOpenByFacts', factIds),
  },
  jobs: {
    find: (id) => host.read('jobs.find', id),
    findLive: (key) => host.read('jobs.findLive', key),
    due: (phases, now, limit) => host.read('jobs.due', { phases, now, limit }),
    nextDueAt: (phases) => host.read('jobs.nextDueAt', phases),
    deadLetters: (page) => host.read('jobs.deadLetters', page),
    counts: () => host.read('jobs.counts', undefined),
  },
  consolidation: {
    idleSessions: (before, limit) => host.read('consolidation.idleSessions', { before, limit }),
    extractedThrough: (sessionId) => host.read('consolidation.extractedThrough', sessionId),
    spentOn: (day) => host.read('consolidation.spentOn', day),
  },
  webhooks: {
    find: (id) => host.read('webhooks.find', id),
    list: () => host.read('webhooks.list', undefined),
  },
  deliveries: {
    find: (id) => host.read('deliveries.find', id),
    list: (filter, page) => host.read('deliveries.list', { filter, page }),
    unattempted: (webhookId, limit) => host.read('deliveries.unattempted', { webhookId, limit }),
    retries: (webhookId, now, limit) => host.read('deliveries.retries', { webhookId, now, limit }),
    counts: () => host.read('deliveries.counts', undefined),
  },
  hookDeliveries: {
    find: (id) => host.read('hookDeliveries.find', id),
    findReceived: (hookId, deliveryId) => host.read('hookDeliveries.findReceived', { hookId, deliveryId }),
    list: (filter, page) => host.read('hookDeliveries.list', { filter, page }),
  },
  files: {
    find: (id, visibility) => host.read('files.find', { id, visibility }),
    content: (id) => host.read('files.content', id),
    holders: (id) => host.read('files.holders', id),
    holdingRuns: (id, limit) => host.read('files.holdingRuns', { id, limit }),
    list: (filter, page, visibility) => host.read('files.list', { filter, page, visibility }),
    usage: (owner) => host.read('files.usage', owner),
    findSame: (file) => host.read('files.findSame', file),
    inUse: (hashes) => host.read('files.inUse', hashes),
  },
})
