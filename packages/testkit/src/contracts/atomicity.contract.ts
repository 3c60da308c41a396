import { type Conflict, EVERY_ROW, type Storage, type Write, type WriteType } from '@perdure/ports'
import { expect } from 'vitest'
import {
  aMessage,
  anApproval,
  anEmissionPart,
  anEvent,
  anIdempotencyRecord,
  anMcpServer,
  aRun,
  aSession,
  aStep,
} from '../builders.ts'
import { CHAT_CHANGES, CHAT_CONFLICTS, chatSnapshot, seedChats } from './chat-atomicity.ts'
import { commit, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { FILE_CHANGES, FILE_CONFLICTS, fileSnapshot, seedFiles } from './file-atomicity.ts'
import { LANE_CHANGES, LANE_CONFLICTS, laneSnapshot, seedLanes } from './lane-atomicity.ts'
import { MEMORY_CHANGES, MEMORY_CONFLICTS, memorySnapshot, seedMemory } from './memory-atomicity.ts'
import { at } from './optional-fields.ts'
import { RETENTION_CHANGES, seedUsage, usageSnapshot } from './retention-atomicity.ts'
import { APPROVAL, BUSY, DENIAL, ENDED, FLOW, RUN, RUN_CHANGES, STEP } from './run-atomicity.ts'
import { ASKED_RUN, SESSION, SESSION_CHANGES, SESSION_CONFLICTS } from './session-atomicity.ts'
import { seedTokens, TOKEN_CHANGES, TOKEN_CONFLICTS, tokenSnapshot } from './token-atomicity.ts'
import { seedTriggers, TRIGGER_CHANGES, TRIGGER_CONFLICTS, triggerSnapshot } from './trigger-atomicity.ts'
import { seedWebhooks, WEBHOOK_CHANGES, WEBHOOK_CONFLICTS, webhookSnapshot } from './webhook-atomicity.ts'

const RESPONSE = { status: 200, body: '{}' }
const EXECUTING = anIdempotencyRecord({ id: 'executing', runId: RUN.id })
const DEAD = anIdempotencyRecord({ id: 'dead', expiresAt: at(1), response: RESPONSE })
const PRUNABLE = anIdempotencyRecord({ id: 'prunable', expiresAt: at(1), response: RESPONSE })

const AUDIT_ENTRY = {
  at: at(1),
  actor: { kind: 'system', subject: 'test' },
  action: 'test',
  decision: 'allowed',
} as const

const ORPHAN = anIdempotencyRecord({ id: 'orphan', runId: 'call-1' })
const OF_SESSION = anIdempotencyRecord({ id: 'of-session', contentOf: 'ses-gone', response: RESPONSE })

const SNAPSHOTS = [
  tokenSnapshot,
  laneSnapshot,
  triggerSnapshot,
  webhookSnapshot,
  fileSnapshot,
  chatSnapshot,
  async (storage: Storage) => [await memorySnapshot(storage), await usageSnapshot(storage)],
]

const KEYS = ['executing', 'dead', 'prunable', 'fresh', 'orphan', 'of-session']

async function seed(storage: Storage): Promise<void> {
  await commit(
    storage,
    { type: 'session.insert', session: SESSION },
    { type: 'session.insert', session: aSession({ id: 'ses-gone' }) },
    ...[{}, { id: 'third' }].map((fields) => ({ type: 'mcp-server.insert', server: anMcpServer(fields) }) as const),
    ...[ORPHAN, OF_SESSION].map((record) => ({ type: 'idempotency.reserve', record, now: at(0) }) as const),
    { type: 'run.insert', run: aRun({ id: 'run-gone', status: 'completed', sessionId: 'ses-gone' }) },
    { type: 'step.insert', step: aStep({ runId: 'run-gone' }) },
    { type: 'approval.insert', approval: anApproval({ id: 'apr-gone', runId: 'run-gone' }) },
    { type: 'message.append', message: aMessage({ id: 'm0', sessionId: 'ses-gone' }) },
    { type: 'event.append', events: [anEvent({ runId: 'run-gone', sessionId: 'ses-gone', topic: 'topic' })] },
    ...[RUN, FLOW, BUSY].map((run) => ({ type: 'run.insert', run }) as const),
    { type: 'step.insert', step: STEP },
    { type: 'step.insert', step: aStep({ runId: FLOW.id }) },
    { type: 'approval.insert', approval: APPROVAL },
    { type: 'approval.insert', approval: anApproval({ id: 'apr-flow', runId: FLOW.id, remindAt: at(5) }) },
    { type: 'emission.insert', part: anEmissionPart() },
    { type: 'emission.insert', part: anEmissionPart({ id: 'emi-taken' }) },
    ...[EXECUTING, DEAD, PRUNABLE].map((record) => ({ type: 'idempotency.reserve', record, now: at(0) }) as const),
    { type: 'message.append', message: aMessage({ id: 'm1', sessionId: SESSION.id, runId: ASKED_RUN }) },
    { type: 'event.append', events: [anEvent({ runId: RUN.id, sessionId: SESSION.id, topic: 'topic' })] },
    { type: 'event.append', events: [anEvent({ runId: FLOW.id, topic: 'topic' })] },
    { type: 'run.insert', run: ENDED },
    {
      ...{ type: 'run.transition', runId: ENDED.id, from: ['completed'], attempt: 1 },
      change: {},
      needsFollowUp: true,
    },
    { type: 'event.append', events: [anEvent({ runId: ENDED.id })] },
    { type: 'audit.append', entry: AUDIT_ENTRY, source: 'source-1' },
    { type: 'audit.stage', key: 'staged-1', entry: AUDIT_ENTRY },
  )
  await seedUsage(storage)
  await seedTokens(storage)
  await seedLanes(storage)
  await seedTriggers(storage)
  await seedWebhooks(storage)
  await seedFiles(storage)
  await seedChats(storage)
  await seedMemory(storage)
}

/** One write of every type. Each succeeds after `seed` and has a visible effect. */
const CHANGES: {
  readonly [T in Exclude<WriteType, 'run.admit' | 'run.fence' | 'step.fence' | 'approval.fence'>]: Extract<
    Write,
    { readonly type: T }
  >
} = {
  'idempotency.reserve': { type: 'idempotency.reserve', record: { ...DEAD, runId: 'run-2' }, now: at(1) },
  'idempotency.complete': { type: 'idempotency.complete', runId: RUN.id, response: RESPONSE },
  'idempotency.interrupt': { type: 'idempotency.interrupt', response: RESPONSE },
  'idempotency.prune': { type: 'idempotency.prune', now: at(1), limit: 10 },
  'run.insert': { type: 'run.insert', run: aRun({ id: 'run-2' }) },
  'run.transition': {
    ...{ type: 'run.transition', runId: RUN.id, from: ['running'], attempt: 1 },
    change: { finishReason: 'completed', completedAt: at(1) },
  },
  ...RUN_CHANGES,
  'step.insert': {
    type: 'step.insert',
    step: aStep({ runId: RUN.id, seq: 2, status: 'waiting', kind: 'event', dueAt: at(0), eventName: 'e' }),
  },
  'step.copy': {
    ...{ type: 'step.copy', runId: BUSY.id, attempt: 1, source: FLOW.id },
    calls: [{ seq: aStep().seq, endOrder: 1 }],
  },
  'step.change': {
    type: 'step.change',
    runId: RUN.id,
    seq: STEP.seq,
    from: 'waiting',
    change: { status: 'completed', endedAt: at(1) },
  },
  'approval.insert': { type: 'approval.insert', approval: anApproval({ id: 'apr-2', runId: RUN.id }) },
  'approval.resolve': {
    type: 'approval.resolve',
    id: APPROVAL.id,
    resolution: { status: 'approved', resolvedAt: at(1), by: 'bob' },
  },
  'approval.remind': { type: 'approval.remind', id: 'apr-flow', assignee: 'staff' },
  'emission.insert': { type: 'emission.insert', part: anEmissionPart({ id: 'emi-2' }) },
  'emission.finish': { type: 'emission.finish', id: anEmissionPart().id },
  'event.append': {
    type: 'event.append',
    events: [anEvent({ runId: RUN.id }), anEvent({ sessionId: SESSION.id }), anEvent({ topic: 'topic' })],
  },
  ...SESSION_CHANGES,
  'thread.delete': { type: 'thread.delete', workflowId: FLOW.targetId, threadId: 'thr-1', answer: RESPONSE },
  'mcp-server.insert': { type: 'mcp-server.insert', server: anMcpServer({ id: 'second' }) },
  'mcp-server.delete': { type: 'mcp-server.delete', id: anMcpServer().id },
  'audit.append': {
    type: 'audit.append',
    entry: AUDIT_ENTRY,
    source: 'elsewhere',
    publish: true,
  },
  'audit.stage': { type: 'audit.stage', key: 'staged-2', entry: AUDIT_ENTRY },
  'audit.release': { type: 'audit.release', keys: ['staged-1', 'source-1'] },
  'audit.prune': { type: 'audit.prune', throughSeq: 1 },
  ...RETENTION_CHANGES,
  ...TOKEN_CHANGES,
  ...LANE_CHANGES,
  ...TRIGGER_CHANGES,
  ...MEMORY_CHANGES,
  ...WEBHOOK_CHANGES,
  ...FILE_CHANGES,
  ...CHAT_CHANGES,
}

/** One write of every type that can conflict. Each conflicts after `seed`, with or without `CHANGES` in between. */
const CONFLICTS: { readonly [T in Conflict['type']]: Extract<Write, { readonly type: T }> } = {
  'idempotency.reserve': {
    type: 'idempotency.reserve',
    record: anIdempotencyRecord({ id: EXECUTING.id, runId: 'run-3' }),
    now: at(0),
  },
  'run.admit': { type: 'run.admit', subject: RUN.owner, now: RUN.createdAt, limits: { runsToday: 0 } },
  'run.insert': { type: 'run.insert', run: aRun({ id: RUN.id }) },
  'run.transition': { type: 'run.transition', runId: RUN.id, from: ['queued'], attempt: 1, change: { attempt: 2 } },
  'run.fence': { type: 'run.fence', runId: RUN.id, attempt: 2 },
  'thread.delete': { type: 'thread.delete', workflowId: FLOW.targetId, threadId: 'thr-2', answer: RESPONSE },
  'step.insert': { type: 'step.insert', step: aStep({ runId: RUN.id, seq: STEP.seq }) },
  'step.copy': {
    ...{ type: 'step.copy', runId: BUSY.id, attempt: 1, source: FLOW.id },
    calls: [aStep().seq, 99].map((seq) => ({ seq, endOrder: 1 })),
  },
  'step.change': { type: 'step.change', runId: RUN.id, seq: STEP.seq, from: 'started', change: { status: 'failed' } },
  'step.fence': { type: 'step.fence', runId: RUN.id, seqs: [STEP.seq, 99] },
  'approval.insert': { type: 'approval.insert', approval: anApproval({ id: APPROVAL.id }) },
  'approval.resolve': { type: 'approval.resolve', id: 'apr-unknown', resolution: DENIAL },
  'approval.remind': { type: 'approval.remind', id: APPROVAL.id },
  'approval.fence': { type: 'approval.fence', ids: [APPROVAL.id, 'apr-unknown'] },
  'emission.insert': { type: 'emission.insert', part: anEmissionPart({ id: 'emi-taken' }) },
  'emission.finish': { type: 'emission.finish', id: 'emi-unknown' },
  ...SESSION_CONFLICTS,
  'mcp-server.insert': { type: 'mcp-server.insert', server: anMcpServer({ id: 'third' }) },
  'mcp-server.delete': { type: 'mcp-server.delete', id: 'unknown' },
  ...TOKEN_CONFLICTS,
  ...LANE_CONFLICTS,
  ...TRIGGER_CONFLICTS,
  ...MEMORY_CONFLICTS,
  ...WEBHOOK_CONFLICTS,
  ...FILE_CONFLICTS,
  ...CHAT_CONFLICTS,
}

/** Everything that the ports return about the rows that `seed` and `CHANGES` touch. */
async function snapshot(storage: Storage) {
  const { runs, runTimers, steps, approvals, emissions, sessions, events, audit } = storage
  const all = { limit: 200, order: 'asc' } as const
  return {
    runs: await runs.list({}, all, EVERY_ROW),
    unfollowed: await runs.needingFollowUp(10),
    deadlines: [await runTimers.pastDeadline(at(1), 10), await runTimers.nextDeadlineAt()],
    steps: await Promise.all([RUN.id, FLOW.id, BUSY.id, 'run-gone'].map((id) => steps.list(id))),
    waiting: [await steps.due(at(1), 10), await steps.nextDueAt(), await steps.waitingForEvent('e', { limit: 10 })],
    approvals: await approvals.list({}, all, EVERY_ROW),
    emissions: await emissions.list(10),
    sessions: await sessions.list({}, all, EVERY_ROW),
    messages: await Promise.all([SESSION.id, 'ses-gone'].map((id) => sessions.messages(id, all))),
    mcpServers: await storage.mcpServers.list(),
    audit: [await audit.read({ afterSeq: 0, limit: 9 }), await audit.state(), await audit.staged(9)],
    records: await Promise.all(KEYS.map((key) => storage.idempotency.find(key, at(0)))),
    streams: await Promise.all(
      [{ runId: RUN.id }, { runId: FLOW.id }, { sessionId: SESSION.id }, { topic: 'topic' }].map((stream) =>
        events.read(stream, { after: 0, limit: 200 }),
      ),
    ),
    head: await events.head(),
    nouns: await Promise.all(SNAPSHOTS.map((read) => read(storage))),
  }
}

const changeCases: readonly ContractCase[] = Object.values(CHANGES).map((example) => ({
  title: `rolls back ${example.type} when a later write of its commit conflicts`,
  async run(storage) {
    await seed(storage)
    const before = await snapshot(storage)
    // The engine assigns the positions of events.
    const change =
      example.type === 'event.delete'
        ? { ...example, positions: before.streams.flat().map(({ position }) => position) }
        : example

    await refused(storage, change, CONFLICTS['run.fence'])
    expect(await snapshot(storage)).toEqual(before)

    await commit(storage, change)
    expect(await snapshot(storage)).not.toEqual(before)
  },
}))

const conflictCases: readonly ContractCase[] = Object.values(CONFLICTS).map((conflicting) => ({
  title: `rolls back all earlier writes when a final ${conflicting.type} conflicts`,
  async run(storage) {
    await seed(storage)
    const before = await snapshot(storage)
    const changes = Object.values(CHANGES)

    const outcome = await refused(storage, ...changes, conflicting)

    expect([outcome.index, outcome.conflict.type]).toEqual([changes.length, conflicting.type])
    expect(await snapshot(storage)).toEqual(before)
  },
}))

export const atomicityCases: readonly ContractCase[] = [
  ...changeCases,
  ...conflictCases,
  {
    title: 'reports the first of several conflicts and does nothing after it',
    async run(storage) {
      await seed(storage)
      const before = await snapshot(storage)

      const outcome = await refused(
        storage,
        CHANGES['run.insert'],
        CONFLICTS['session.insert'],
        CONFLICTS['run.insert'],
        CHANGES['session.insert'],
      )

      expect(outcome).toEqual({ committed: false, index: 1, conflict: { type: 'session.insert', current: SESSION } })
      expect(await snapshot(storage)).toEqual(before)
    },
  },
  {
    title: 'assigns higher positions after a rolled-back commit than any position before it',
    async run(storage) {
      await seed(storage)
      const { position } = await storage.events.head()
      await refused(storage, CHANGES['event.append'], CONFLICTS['run.fence'])

      const { events } = await commit(storage, CHANGES['event.append'])

      expect(events[0]?.position).toBeGreaterThan(position)
      expect(await storage.events.read({ topic: 'topic' }, { after: position, limit: 10 })).toEqual(events.slice(2))
    },
  },
]
