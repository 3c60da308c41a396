import type { NewEvent, RunRecord, Storage, Write } from '@perdure/ports'
import { expect } from 'vitest'
import { anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep, aToken } from '../builders.ts'
import { commit, findRun } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const positions = async (storage: Storage, stream: { readonly topic: string } | { readonly runId: string }) =>
  (await storage.events.read(stream, { after: 0, limit: 100 })).map(({ position }) => position)

const trimmedThrough = async (storage: Storage) => (await storage.events.head()).trimmedThrough

const ended = (over: Partial<RunRecord>): RunRecord =>
  aRun({ status: 'completed', createdAt: at(1), completedAt: at(2), ...over })

const OLD: readonly RunRecord[] = [
  ended({ id: 'completed' }),
  ended({ id: 'failed', status: 'failed', createdAt: at(2) }),
  ended({ id: 'thread-over', kind: 'workflow', threadId: 'over', createdAt: at(3), completedAt: at(4) }),
]

const KEPT: readonly RunRecord[] = [
  ended({ id: 'ends-on-the-limit', completedAt: at(10) }),
  ended({ id: 'begins-on-the-limit', createdAt: at(10), completedAt: at(10) }),
  ended({ id: 'child', parentRunId: 'parent' }),
  aRun({ id: 'parent', status: 'suspended', createdAt: at(1) }),
  ended({ id: 'earlier', kind: 'workflow', threadId: 'alive' }),
  aRun({ id: 'later', kind: 'workflow', threadId: 'alive', status: 'queued', createdAt: at(20) }),
]

export const retentionCases: readonly ContractCase[] = [
  {
    title: 'never reuses the positions of the newest events, whatever deletes them',
    async run(storage) {
      const answer = { status: 410, body: '' }
      const threaded = aRun({ id: 'of-thread', kind: 'workflow', threadId: 'old', targetId: 'flow', status: 'failed' })
      await commit(storage, { type: 'session.insert', session: aSession({ id: 'deleted' }) })
      for (const run of [ended({ id: 'pruned' }), threaded]) await commit(storage, { type: 'run.insert', run })
      const deletions: readonly (readonly [Partial<NewEvent>, Write])[] = [
        [{ topic: 'log' }, { type: 'event.trim', before: at(10), limit: 10 }],
        [{ runId: 'pruned' }, { type: 'run.prune', before: at(10), limit: 10 }],
        [{ sessionId: 'deleted' }, { type: 'session.delete', id: 'deleted', answer }],
        [
          { topic: 'log', runId: 'of-thread' },
          { type: 'thread.delete', workflowId: 'flow', threadId: 'old', answer },
        ],
      ]
      let given = 0
      for (const [carrier, deletion] of deletions) {
        const event = anEvent({ ...carrier, at: at(5) })
        const { events } = await commit(storage, { type: 'event.append', events: [event, event] })
        const [first = 0, second = 0] = events.map(({ position }) => position)
        expect(first).toBeGreaterThan(given)
        expect(second).toBe(first + 1)
        given = second
        await commit(storage, deletion)
        const left = await Promise.all([
          positions(storage, { topic: 'log' }),
          positions(storage, { runId: 'pruned' }),
          positions(storage, { runId: 'of-thread' }),
        ])
        expect(left).toEqual([[], [], []])
        const { position } = await storage.events.head()
        expect(position).toBeGreaterThanOrEqual(given)
        given = position
      }
    },
  },
  {
    title: 'trims the oldest events before an instant, up to the limit, and records the last trimmed position',
    async run(storage) {
      const events = [1, 2, 3, 5, 4].map((ms) => anEvent({ topic: 'log', at: at(ms) }))
      const appended = await commit(storage, { type: 'event.append', events })
      const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = appended.events.map(({ position }) => position)
      const trim = async (before: number, limit: number) => {
        const { counts } = await commit(storage, { type: 'event.trim', before: at(before), limit })
        return [counts[0], await trimmedThrough(storage), await positions(storage, { topic: 'log' })]
      }

      expect(await trim(1, 10)).toEqual([0, 0, [first, second, third, fourth, fifth]])
      expect(await trim(4, 2)).toEqual([2, second, [third, fourth, fifth]])
      expect(await trim(5, 10)).toEqual([1, third, [fourth, fifth]])
      expect(await trim(6, 10)).toEqual([2, fifth, []])
      expect(await trim(6, 10)).toEqual([0, fifth, []])
    },
  },
  {
    title: 'does not trim the events of a run until it has ended',
    async run(storage) {
      const { events } = await commit(
        storage,
        { type: 'run.insert', run: aRun({ id: 'waits', status: 'suspended' }) },
        {
          type: 'event.append',
          events: [anEvent({ runId: 'waits', at: at(1) }), anEvent({ topic: 'log', at: at(1) })],
        },
      )
      const [kept, trimmed] = events.map(({ position }) => position)
      const trim = { type: 'event.trim', before: at(5), limit: 10 } as const

      await commit(storage, trim)
      expect(await positions(storage, { runId: 'waits' })).toEqual([kept])
      expect(await trimmedThrough(storage)).toBe(trimmed)
      const change = { status: 'aborted', finishReason: 'aborted', completedAt: at(2) } as const
      await commit(storage, { type: 'run.transition', runId: 'waits', from: ['suspended'], attempt: 1, change })
      await commit(storage, trim)
      expect(await positions(storage, { runId: 'waits' })).toEqual([])
      expect(await trimmedThrough(storage)).toBe(trimmed)
    },
  },
  {
    title: 'prunes runs that ended before an instant with all their data, except runs that are still needed',
    async run(storage) {
      let lastOfOld: number | undefined
      for (const run of [...OLD, ...KEPT]) {
        const { events } = await commit(
          storage,
          { type: 'run.insert', run },
          { type: 'step.insert', step: aStep({ runId: run.id }) },
          { type: 'approval.insert', approval: anApproval({ id: `apr-${run.id}`, runId: run.id }) },
          { type: 'event.append', events: [anEvent({ runId: run.id })] },
        )
        if (run === OLD.at(-1)) lastOfOld = events.at(-1)?.position
      }
      const prune = async (limit: number) =>
        (await commit(storage, { type: 'run.prune', before: at(10), limit })).counts[0]

      expect([await prune(2), await prune(2), await prune(2)]).toEqual([2, 1, 0])

      const left = await Promise.all([...OLD, ...KEPT].map(async ({ id }) => (await findRun(storage, id))?.id))
      expect(left).toEqual([...OLD.map(() => undefined), ...KEPT.map(({ id }) => id)])
      expect(await storage.steps.list('completed')).toEqual([])
      expect(await positions(storage, { runId: 'completed' })).toEqual([])
      expect(await trimmedThrough(storage)).toBe(lastOfOld)
      expect(await storage.steps.list('parent')).toHaveLength(1)
    },
  },
  {
    title: 'prunes only runs of the owner if one is given',
    async run(storage) {
      for (const owner of ['ann', 'bob']) {
        await commit(storage, { type: 'run.insert', run: ended({ id: `of-${owner}`, owner }) })
        await commit(storage, { type: 'run.insert', run: aRun({ id: `active-of-${owner}`, owner, createdAt: at(1) }) })
      }

      const answer = { status: 404, body: 'gone' }
      for (const runId of ['of-ann', 'of-bob']) {
        const response = { status: 200, body: runId }
        const record = anIdempotencyRecord({ id: `key-${runId}`, runId, contentOf: runId, response })
        await commit(storage, { type: 'idempotency.reserve', record, now: at(5) })
      }
      const of = { owner: 'ann', answer }
      expect((await commit(storage, { type: 'run.prune', before: at(10), limit: 5, of })).counts).toEqual([1])
      const bodies = ['key-of-ann', 'key-of-bob'].map(
        async (id) => (await storage.idempotency.find(id, at(5)))?.response,
      )
      expect(await Promise.all(bodies)).toMatchObject([{ body: 'gone' }, { body: 'of-bob' }])
      const ids = ['of-ann', 'active-of-ann', 'of-bob', 'active-of-bob']
      const left = await Promise.all(ids.map(async (id) => (await findRun(storage, id))?.id))
      expect(left).toEqual([undefined, ...ids.slice(1)])
    },
  },
  {
    title: 'deletes events by their positions',
    async run(storage) {
      const events = ['a', 'b', 'c'].map((type) => anEvent({ topic: 'log', type }))
      const stored = (await commit(storage, { type: 'event.append', events })).events
      const [first, , third] = stored.map(({ position }) => position)

      const gone = [first ?? 0, third ?? 0, 999_999]
      expect((await commit(storage, { type: 'event.delete', positions: gone })).counts).toEqual([2])
      expect(await positions(storage, { topic: 'log' })).toEqual([stored[1]?.position])
    },
  },
  {
    title: 'prunes only tokens of the subject if one is given',
    async run(storage) {
      for (const [id, subject] of [
        ['hers', 'ann'],
        ['his', 'bob'],
      ] as const) {
        const token = aToken({ id, subject, createdAt: at(1), revokedAt: at(2) })
        await commit(storage, { type: 'token.insert', token })
      }

      expect((await commit(storage, { type: 'token.prune', before: at(10), limit: 5, subject: 'ann' })).counts).toEqual(
        [1],
      )
      expect((await storage.tokens.list({ limit: 9, order: 'asc' })).items.map(({ id }) => id)).toEqual(['his'])
    },
  },
]
