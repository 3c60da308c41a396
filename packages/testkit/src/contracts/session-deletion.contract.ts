import { EVERY_ROW, type IdempotencyRecord, plusMs, type RunStatus, type Storage, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import {
  aFire,
  aMessage,
  anApproval,
  anEvent,
  anIdempotencyRecord,
  aRun,
  aSession,
  aStep,
  aTrigger,
} from '../builders.ts'
import { aFact, aJob } from '../memory-builders.ts'
import { commit, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ANSWER = { status: 404, body: '{"error":"gone"}', contentType: 'application/json' }
const DELETION = { type: 'session.delete', id: 'gone', answer: ANSWER } as const
const GIVEN = { status: 200, body: '{"secret":1}', location: '/v1/sessions/gone' }

const recordOf = (contentOf: string | undefined): IdempotencyRecord =>
  anIdempotencyRecord({ id: `key ${contentOf}`, runId: `run of ${contentOf}`, contentOf, response: GIVEN })

/** A session with this id, two runs and all their data. */
const sessionWrites = (id: string): readonly Write[] => [
  { type: 'session.insert', session: aSession({ id }) },
  { type: 'message.append', message: aMessage({ id: `${id}-m1`, sessionId: id }) },
  { type: 'message.append', message: aMessage({ id: `${id}-m2`, sessionId: id }) },
  { type: 'event.append', events: [anEvent({ sessionId: id }), anEvent({ sessionId: id, topic: 'topic' })] },
  ...[`${id}-1`, `${id}-2`].flatMap((runId): readonly Write[] => [
    { type: 'run.insert', run: aRun({ id: runId, status: 'completed', sessionId: id }) },
    { type: 'step.insert', step: aStep({ runId }) },
    { type: 'approval.insert', approval: anApproval({ id: `apr-${runId}`, runId, sessionId: id }) },
    { type: 'event.append', events: [anEvent({ runId, sessionId: id, topic: 'topic' }), anEvent({ runId })] },
  ]),
  ...[id, `${id}-1`, `apr-${id}-2`].map(
    (contentOf): Write => ({ type: 'idempotency.reserve', record: recordOf(contentOf), now: at(0) }),
  ),
]

async function seed(storage: Storage): Promise<void> {
  await commit(storage, ...sessionWrites('gone'))
  await commit(storage, ...sessionWrites('kept'))
  await commit(storage, { type: 'run.insert', run: aRun({ id: 'alone' }) })
  await commit(storage, { type: 'idempotency.reserve', record: recordOf(undefined), now: at(0) })
}

async function belongings(storage: Storage, id: string) {
  const page = { limit: 100, order: 'asc' } as const
  const range = { after: 0, limit: 100 }
  const runIds = [`${id}-1`, `${id}-2`]
  return {
    session: await storage.sessions.find(id, EVERY_ROW),
    messages: (await storage.sessions.messages(id, page)).items,
    runs: (await storage.runs.list({ sessionId: id }, page, EVERY_ROW)).items,
    found: await Promise.all(runIds.map((runId) => storage.runs.find(runId, EVERY_ROW))),
    steps: (await Promise.all(runIds.map((runId) => storage.steps.list(runId)))).flat(),
    approvals: (await Promise.all(runIds.map((runId) => storage.approvals.list({ runId }, page, EVERY_ROW)))).flatMap(
      ({ items }) => items,
    ),
    events: [
      ...(await storage.events.read({ sessionId: id }, range)),
      ...(await Promise.all(runIds.map((runId) => storage.events.read({ runId }, range)))).flat(),
    ],
  }
}

const NOTHING = {
  session: undefined,
  messages: [],
  runs: [],
  found: [undefined, undefined],
  steps: [],
  approvals: [],
  events: [],
}

export const sessionDeletionCases: readonly ContractCase[] = [
  {
    title: 'deletes a session with its messages, events, runs, calls and approvals, and nothing of another session',
    async run(storage) {
      await seed(storage)
      const kept = await belongings(storage, 'kept')

      const { counts } = await commit(storage, DELETION)

      expect(counts).toEqual([1])
      expect(await belongings(storage, 'gone')).toEqual(NOTHING)
      expect(await belongings(storage, 'kept')).toEqual(kept)
      expect((await storage.runs.list({}, { limit: 100, order: 'asc' }, EVERY_ROW)).items.map(({ id }) => id)).toEqual([
        'alone',
        'kept-1',
        'kept-2',
      ])
      const topic = await storage.events.read({ topic: 'topic' }, { after: 0, limit: 100 })
      expect(topic.map(({ sessionId }) => sessionId)).toEqual(['kept', 'kept', 'kept'])
    },
  },
  {
    title: 'replaces only the responses that contain content of a deleted session and keeps their keys reserved',
    async run(storage) {
      await seed(storage)
      await commit(storage, DELETION)

      for (const contentOf of ['gone', 'gone-1', 'apr-gone-2']) {
        const found = await storage.idempotency.find(`key ${contentOf}`, at(0))
        expect(found).toEqual({ ...recordOf(contentOf), contentOf: undefined, runId: undefined, response: ANSWER })
      }
      for (const contentOf of ['kept', 'kept-1', 'apr-kept-2', undefined]) {
        expect(await storage.idempotency.find(`key ${contentOf}`, at(0))).toEqual(recordOf(contentOf))
      }
    },
  },
  {
    title: 'keeps facts and fires of a deleted session without their reference to it and deletes its jobs',
    async run(storage) {
      await seed(storage)
      const linksOf = (id: string): readonly Write[] => [
        { type: 'fact.insert', fact: aFact({ id: `fact-${id}`, sourceRunId: `${id}-1`, sourceSessionId: id }) },
        {
          type: 'fire.insert',
          fire: aFire({ id: `fire-${id}`, cause: 'manual', status: 'completed', runId: `${id}-2` }),
        },
        { type: 'job.enqueue', job: aJob({ id: `job-${id}`, key: `extract ${id}`, sessionId: id }) },
        { type: 'consolidation.extracted', sessionId: id, throughSeq: 2 },
      ]
      await commit(storage, { type: 'trigger.insert', trigger: aTrigger() }, ...linksOf('gone'), ...linksOf('kept'))
      const links = async (id: string) => {
        const fact = await storage.facts.find(`fact-${id}`, { now: at(0), visibility: EVERY_ROW })
        return {
          of: [fact?.sourceRunId, fact?.sourceSessionId, (await storage.fires.find(`fire-${id}`))?.runId],
          survive: [fact?.text, (await storage.fires.find(`fire-${id}`))?.status],
          job: (await storage.jobs.find(`job-${id}`))?.sessionId,
          extracted: await storage.consolidation.extractedThrough(id),
        }
      }

      await commit(storage, DELETION)

      const survive = [aFact().text, 'completed']
      expect(await links('gone')).toEqual({
        of: [undefined, undefined, undefined],
        survive,
        job: undefined,
        extracted: 0,
      })
      expect(await links('kept')).toEqual({ of: ['kept-1', 'kept', 'kept-2'], survive, job: 'kept', extracted: 2 })
    },
  },
  {
    title: 'refuses to delete an unknown session',
    async run(storage) {
      await seed(storage)
      await commit(storage, DELETION)

      expect((await refused(storage, DELETION)).conflict).toEqual({ type: 'session.delete' })
    },
  },
  {
    title: 'refuses to delete a session with a queued, running or suspended run and keeps all its data',
    async run(storage) {
      await seed(storage)
      for (const status of ['queued', 'running', 'suspended'] satisfies readonly RunStatus[]) {
        const run = aRun({ id: `run-${status}`, status, sessionId: 'gone' })
        await commit(storage, { type: 'run.insert', run })
        const before = await belongings(storage, 'gone')

        const { conflict } = await refused(storage, DELETION)

        expect(conflict).toEqual({ type: 'session.delete', current: before.session })
        expect(await belongings(storage, 'gone')).toEqual(before)
        await commit(storage, {
          ...{ type: 'run.transition', runId: run.id, from: [status], attempt: 1, change: { status: 'aborted' } },
        })
      }
      await commit(storage, DELETION)
    },
  },
  {
    title: 'deletes a session that has been idle and advances trimmedThrough past its events',
    async run(storage) {
      await seed(storage)
      const { session, events } = await belongings(storage, 'gone')
      const last = Math.max(...events.map(({ position }) => position))

      await commit(storage, { ...DELETION, idleSince: session?.updatedAt })

      expect(await belongings(storage, 'gone')).toEqual(NOTHING)
      expect((await storage.events.head()).trimmedThrough).toBe(last)
      expect((await belongings(storage, 'kept')).events).toHaveLength(events.length)
    },
  },
  {
    title: 'refuses to delete a session that was active after idleSince and keeps all its data',
    async run(storage) {
      await seed(storage)
      const before = await belongings(storage, 'gone')
      const idleSince = plusMs(before.session?.updatedAt ?? at(0), -1)

      const { conflict } = await refused(storage, { ...DELETION, idleSince })

      expect(conflict).toEqual({ type: 'session.delete', current: before.session })
      expect(await belongings(storage, 'gone')).toEqual(before)
      expect((await storage.events.head()).trimmedThrough).toBe(0)
    },
  },
  {
    title: 'accepts a new session with the id of a deleted session and starts it empty',
    async run(storage) {
      await seed(storage)
      await commit(storage, DELETION)
      await commit(
        storage,
        { type: 'session.insert', session: aSession({ id: 'gone', owner: 'bob' }) },
        { type: 'message.append', message: aMessage({ id: 'new', sessionId: 'gone' }) },
      )

      const { session, messages } = await belongings(storage, 'gone')
      expect(session?.owner).toBe('bob')
      expect(messages.map(({ id, seq }) => [id, seq])).toEqual([['new', 1]])
    },
  },
  {
    title: 'never reuses the position of a deleted event',
    async run(storage) {
      await seed(storage)
      const { position } = await storage.events.head()
      const { events } = await commit(storage, DELETION, {
        type: 'event.append',
        events: [anEvent({ topic: 'topic' })],
      })

      expect(events[0]?.position).toBe(position + 1)
    },
  },
]
