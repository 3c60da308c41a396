import type { Storage } from '@berth/ports'
import type { Host } from './host/host.ts'

/** The storage ports, each method one operation of the host. */
export const createStores = (host: Host): Omit<Storage, 'status' | 'close'> => ({
  unitOfWork: { commit: (writes) => host.write('commit', writes) },
  runs: {
    find: (id, visibility) => host.read('runs.find', { id, visibility }),
    list: (filter, page, visibility) => host.read('runs.list', { filter, page, visibility }),
    pastDeadline: (now, limit) => host.read('runs.pastDeadline', { now, limit }),
    nextDeadlineAt: () => host.read('runs.nextDeadlineAt', undefined),
  },
  steps: {
    list: (runId) => host.read('steps.list', runId),
    find: (runId, seq) => host.read('steps.find', { runId, seq }),
    due: (now, limit) => host.read('steps.due', { now, limit }),
    nextDueAt: () => host.read('steps.nextDueAt', undefined),
    waitingForEvent: (eventName, limit, runId) => host.read('steps.waitingForEvent', { eventName, limit, runId }),
    waitingForChild: (childRunId) => host.read('steps.waitingForChild', childRunId),
  },
  approvals: {
    find: (id, visibility) => host.read('approvals.find', { id, visibility }),
    list: (filter, page, visibility) => host.read('approvals.list', { filter, page, visibility }),
  },
  events: {
    read: (stream, range) => host.read('events.read', { stream, range }),
    readBefore: (stream, range) => host.read('events.readBefore', { stream, range }),
    head: () => host.read('events.head', undefined),
  },
  idempotency: { find: (id, now) => host.read('idempotency.find', { id, now }) },
  sessions: {
    find: (id, visibility) => host.read('sessions.find', { id, visibility }),
    list: (page, visibility) => host.read('sessions.list', { page, visibility }),
    messages: (sessionId, page) => host.read('sessions.messages', { sessionId, page }),
    idleSince: (query) => host.read('sessions.idleSince', query),
  },
  tokens: {
    find: (id) => host.read('tokens.find', id),
    findMany: (ids) => host.read('tokens.findMany', ids),
    findByDigest: (digest) => host.read('tokens.findByDigest', digest),
    list: (page) => host.read('tokens.list', page),
  },
  audit: { read: (range) => host.read('audit.read', range) },
  mcpServers: {
    find: (id) => host.read('mcpServers.find', id),
    list: () => host.read('mcpServers.list', undefined),
  },
})
