import {
  EVERY_ROW,
  type EventStream,
  type IdempotencyRecord,
  type RunRecord,
  type Storage,
  type Write,
} from '@perdure/ports'
import { expect } from 'vitest'
import { anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep } from '../builders.ts'
import { commit, findRun, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const ANSWER = { status: 404, body: '{"error":"gone"}', contentType: 'application/json' }
const GIVEN = { status: 200, body: '{"secret":1}', location: '/v1/runs/first' }
const DELETION = { type: 'thread.delete', workflowId: 'nightly', threadId: 'thr-1', answer: ANSWER } as const

const recordOf = (contentOf: string | undefined): IdempotencyRecord =>
  anIdempotencyRecord({ id: `key ${contentOf}`, runId: `run of ${contentOf}`, contentOf, response: GIVEN })

const ofThread = (over: Partial<RunRecord>): RunRecord =>
  aRun({ kind: 'workflow', targetId: 'nightly', threadId: 'thr-1', ...over })

const DELETED: readonly RunRecord[] = [
  ofThread({ id: 'first', status: 'completed' }),
  ofThread({ id: 'second', status: 'aborted', sessionId: aSession().id }),
]

/** Runs to keep; each differs from the deleted runs in one field. */
const KEPT: readonly RunRecord[] = [
  ofThread({ id: 'other-thread', threadId: 'thr-2' }),
  ofThread({ id: 'other-workflow', targetId: 'weekly' }),
  ofThread({ id: 'agent', kind: 'agent' }),
  ofThread({ id: 'no-thread', threadId: undefined }),
]

/** Writes a run with a waiting call, an approval and events, one of which is also on a session and a topic. */
const writesOf = (run: RunRecord): readonly Write[] => [
  { type: 'run.insert', run },
  { type: 'step.insert', step: aStep({ runId: run.id, status: 'completed', endOrder: 1 }) },
  {
    type: 'step.insert',
    step: aStep({ runId: run.id, seq: 2, status: 'waiting', dueAt: at(1), eventName: 'e', childRunId: `of ${run.id}` }),
  },
  { type: 'approval.insert', approval: anApproval({ id: `apr-${run.id}`, runId: run.id }) },
  {
    type: 'event.append',
    events: [anEvent({ runId: run.id }), anEvent({ runId: run.id, sessionId: aSession().id, topic: 'topic' })],
  },
]

async function seed(storage: Storage): Promise<void> {
  await commit(storage, { type: 'session.insert', session: aSession() })
  for (const run of [...DELETED, ...KEPT]) await commit(storage, ...writesOf(run))
}

const read = (storage: Storage, stream: EventStream) => storage.events.read(stream, { after: 0, limit: 100 })

/** Reads everything that belongs to the run. */
const belongings = async (storage: Storage, { id }: RunRecord) => ({
  run: await findRun(storage, id),
  steps: await storage.steps.list(id),
  child: await storage.steps.waitingForChild(`of ${id}`),
  approval: await storage.approvals.find(`apr-${id}`, EVERY_ROW),
  approvals: (await storage.approvals.list({ runId: id }, { limit: 10, order: 'asc' }, EVERY_ROW)).items,
  events: await read(storage, { runId: id }),
})

const NOTHING = { run: undefined, steps: [], child: undefined, approval: undefined, approvals: [], events: [] }

const runIds = (rows: readonly { readonly runId?: string | undefined }[]) => rows.map(({ runId }) => runId)

export const threadDeletionCases: readonly ContractCase[] = [
  {
    title: 'deletes exactly the runs of a thread, with their calls, approvals and events',
    async run(storage) {
      await seed(storage)
      const before = await Promise.all(KEPT.map((run) => belongings(storage, run)))

      const { counts } = await commit(storage, DELETION)

      expect(counts).toEqual([DELETED.length])
      for (const run of DELETED) expect(await belongings(storage, run)).toEqual(NOTHING)
      expect(await Promise.all(KEPT.map((run) => belongings(storage, run)))).toEqual(before)
    },
  },
  {
    title: 'replaces only the responses that contain content of a deleted thread and keeps their keys reserved',
    async run(storage) {
      await seed(storage)
      const gone = ['first', 'apr-second']
      const kept = ['agent', 'apr-other-thread', undefined]
      for (const contentOf of [...gone, ...kept]) {
        await commit(storage, { type: 'idempotency.reserve', record: recordOf(contentOf), now: at(0) })
      }

      await commit(storage, DELETION)

      for (const contentOf of gone) {
        const found = await storage.idempotency.find(`key ${contentOf}`, at(0))
        expect(found).toEqual({ ...recordOf(contentOf), contentOf: undefined, runId: undefined, response: ANSWER })
      }
      for (const contentOf of kept) {
        expect(await storage.idempotency.find(`key ${contentOf}`, at(0))).toEqual(recordOf(contentOf))
      }
    },
  },
  {
    title: 'leaves nothing of a deleted thread in any list or stream',
    async run(storage) {
      await seed(storage)
      await commit(storage, DELETION)

      const kept = KEPT.map(({ id }) => id)
      const all = { limit: 200, order: 'asc' } as const
      expect((await storage.runs.list({}, all, EVERY_ROW)).items.map(({ id }) => id).toSorted()).toEqual(
        kept.toSorted(),
      )
      expect(runIds((await storage.approvals.list({}, all, EVERY_ROW)).items).toSorted()).toEqual(kept.toSorted())
      expect(runIds(await storage.steps.due(at(9), 100)).toSorted()).toEqual(kept.toSorted())
      expect(runIds(await storage.steps.waitingForEvent('e', { limit: 100 })).toSorted()).toEqual(kept.toSorted())
      for (const stream of [{ sessionId: aSession().id }, { topic: 'topic' }]) {
        expect(runIds(await read(storage, stream))).toEqual(kept)
      }
      expect(
        runIds(await storage.events.readBefore({ topic: 'topic' }, { before: Number.MAX_SAFE_INTEGER, limit: 100 })),
      ).toEqual(kept.toReversed())
    },
  },
  {
    title: 'never reuses the position of a deleted event, not even of the newest',
    async run(storage) {
      await commit(storage, ...writesOf(ofThread({ status: 'failed' })))
      const { position } = await storage.events.head()

      await commit(storage, DELETION)
      expect((await storage.events.head()).position).toBeGreaterThanOrEqual(position)

      const { events } = await commit(storage, { type: 'event.append', events: [anEvent({ topic: 'topic' })] })
      expect(events[0]?.position).toBeGreaterThan(position)
      expect(await read(storage, { topic: 'topic' })).toEqual(events)
    },
  },
  {
    title: 'refuses to delete a thread while one of its runs is queued, running or suspended, and deletes nothing',
    async run(storage) {
      await seed(storage)
      for (const status of ['queued', 'running', 'suspended'] as const) {
        const run = ofThread({ id: status, status })
        await commit(storage, ...writesOf(run))
        const before = await Promise.all([...DELETED, run].map((one) => belongings(storage, one)))

        expect(await refused(storage, DELETION)).toEqual({
          committed: false,
          index: 0,
          conflict: { type: 'thread.delete', current: run },
        })
        expect(await Promise.all([...DELETED, run].map((one) => belongings(storage, one)))).toEqual(before)
        const end = { type: 'run.transition', runId: run.id, from: [status], attempt: 1, change: { status: 'aborted' } }
        await commit(storage, end as Write)
      }
      expect((await commit(storage, DELETION)).counts).toEqual([DELETED.length + 3])
    },
  },
  {
    title: 'deletes nothing for an unknown thread or when the thread is already deleted',
    async run(storage) {
      await seed(storage)
      const unknown = { ...DELETION, workflowId: 'unknown' }

      expect((await commit(storage, unknown, DELETION, DELETION)).counts).toEqual([0, DELETED.length, 0])
    },
  },
  {
    title: 'frees the ids of deleted runs, so that a new run with such an id starts empty',
    async run(storage) {
      const run = ofThread({ id: 'again', status: 'completed' })
      await commit(storage, ...writesOf(run))

      const step = aStep({ runId: run.id, seq: 2 })
      const change = { type: 'step.change', runId: run.id, seq: 2, from: 'started', change: { status: 'completed' } }
      await commit(storage, DELETION, { type: 'run.insert', run }, { type: 'step.insert', step }, change as Write)

      expect(await belongings(storage, run)).toEqual({
        ...NOTHING,
        run,
        steps: [{ ...step, status: 'completed', endOrder: 1 }],
      })
      await commit(storage, { type: 'approval.insert', approval: anApproval({ id: `apr-${run.id}`, runId: run.id }) })
    },
  },
  {
    title: 'rolls back a whole deletion when a later write of its commit conflicts',
    async run(storage) {
      await seed(storage)
      const all = [...DELETED, ...KEPT]
      const snapshot = async () => ({
        belongings: await Promise.all(all.map((run) => belongings(storage, run))),
        runs: await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW),
        approvals: await storage.approvals.list({}, { limit: 200, order: 'asc' }, EVERY_ROW),
        topic: await read(storage, { topic: 'topic' }),
        session: await read(storage, { sessionId: aSession().id }),
        due: runIds(await storage.steps.due(at(9), 100)).toSorted(),
      })
      const before = await snapshot()

      await refused(
        storage,
        { type: 'event.append', events: [anEvent({ runId: 'first', topic: 'topic' })] },
        DELETION,
        { type: 'event.append', events: [anEvent({ runId: 'first', topic: 'topic' })] },
        { type: 'run.insert', run: KEPT[0]! },
      )

      expect(await snapshot()).toEqual(before)
    },
  },
]
