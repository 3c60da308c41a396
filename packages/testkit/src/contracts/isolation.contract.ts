import { EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aMessage, anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep, aToken } from '../builders.ts'
import { commit, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

/** Overwrites every member recursively; frozen members stay unchanged. */
function tamper(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    tamper(member)
    Reflect.set(value, key, 'tampered with')
  }
}

const makeWrites = (): Write[] => [
  { type: 'session.insert', session: aSession({ metadata: { a: 'b' } }) },
  {
    type: 'run.insert',
    run: aRun({
      status: 'running',
      metadata: { a: 'b' },
      error: { code: 'run-failed', message: 'm' },
      usage: { inputTokens: 1, outputTokens: 2, costUsd: 3, toolCalls: 4 },
      budget: { tokens: 5 },
      flow: { concurrency: 'k' },
      deadlineAt: at(1),
    }),
  },
  {
    type: 'step.insert',
    step: aStep({
      status: 'waiting',
      error: { code: 'step-failed', message: 'm' },
      dueAt: at(1),
      eventName: 'e',
      childRunId: 'child',
    }),
  },
  { type: 'approval.insert', approval: anApproval() },
  { type: 'token.insert', token: aToken({ scopes: ['agents:read'] }) },
  {
    type: 'idempotency.reserve',
    record: anIdempotencyRecord({ response: { status: 200, body: '{}' } }),
    now: at(0),
  },
  { type: 'lane.take', runId: aRun().id, slots: [{ lane: 'x', slot: 0 }], now: at(0) },
  { type: 'message.append', message: aMessage() },
  { type: 'event.append', events: [anEvent({ topic: 'topic' })] },
]

async function readAll({ runs, runTimers, lanes, steps, approvals, sessions, tokens, events, idempotency }: Storage) {
  const page = { limit: 10, order: 'asc' } as const
  return {
    run: await runs.find(aRun().id, EVERY_ROW),
    runs: await runs.list({}, page, EVERY_ROW),
    late: await runTimers.pastDeadline(at(1), 10),
    lanes: await lanes.taken({ now: at(0), limit: 10 }),
    step: await steps.find(aRun().id, 1),
    steps: await steps.list(aRun().id),
    due: await steps.due(at(1), 10),
    ofEvent: await steps.waitingForEvent('e', { limit: 10 }),
    ofChild: await steps.waitingForChild('child'),
    approval: await approvals.find(anApproval().id, EVERY_ROW),
    approvals: await approvals.list({}, page, EVERY_ROW),
    session: await sessions.find(aSession().id, EVERY_ROW),
    sessions: await sessions.list({}, page, EVERY_ROW),
    messages: await sessions.messages(aSession().id, page),
    token: await tokens.find(aToken().id),
    byDigest: await tokens.findByDigest(aToken().digest),
    tokens: await tokens.list(page),
    record: await idempotency.find(anIdempotencyRecord().id, at(0)),
    events: await events.read({ topic: 'topic' }, { after: 0, limit: 10 }),
    newest: await events.readBefore({ topic: 'topic' }, { before: Number.MAX_SAFE_INTEGER, limit: 10 }),
    head: await events.head(),
  }
}

export const isolationCases: readonly ContractCase[] = [
  {
    title: 'is unaffected by later mutation of committed writes',
    async run(storage) {
      const writes = makeWrites()
      await commit(storage, ...writes)
      const before = structuredClone(await readAll(storage))

      tamper(writes)

      expect(await readAll(storage)).toEqual(before)
    },
  },
  {
    title: 'is unaffected by mutation of records that were read',
    async run(storage) {
      await commit(storage, ...makeWrites())
      const read = await readAll(storage)
      const before = structuredClone(read)

      tamper(read)

      expect(await readAll(storage)).toEqual(before)
    },
  },
  {
    title: 'is unaffected by mutation of a commit outcome or a conflict record',
    async run(storage) {
      const committed = await commit(storage, ...makeWrites())
      const before = structuredClone(await readAll(storage))
      const conflicts = await Promise.all(
        makeWrites()
          .slice(0, 6)
          .map((write) => refused(storage, write)),
      )

      tamper([committed, conflicts])

      expect(await readAll(storage)).toEqual(before)
    },
  },
  {
    title: 'is unaffected by later mutation of run changes, call changes and responses',
    async run(storage) {
      const change = { usage: { inputTokens: 9, outputTokens: 9, costUsd: 9, toolCalls: 9 } }
      const response = { status: 201, body: '[]' }
      const error = { code: 'step-failed', message: 'late' }
      await commit(storage, ...makeWrites().slice(0, 3))
      await commit(
        storage,
        { type: 'idempotency.reserve', record: anIdempotencyRecord({ runId: aRun().id }), now: at(0) },
        { type: 'run.transition', runId: aRun().id, from: ['running'], attempt: 1, change },
        { type: 'step.change', runId: aRun().id, seq: 1, from: 'waiting', change: { error } },
        { type: 'idempotency.complete', runId: aRun().id, response },
      )
      const before = structuredClone(await readAll(storage))

      tamper([change, error, response])

      expect(await readAll(storage)).toEqual(before)
    },
  },
]
