import { type EpochMs, type RunRecord, type Storage, type SubjectLimits, startOfDay, type Write } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aRun, aSession } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const NOW = at(0)
const DAY_MS = 86_400_000
const after = (instant: EpochMs, ms: number) => (instant + ms) as EpochMs
const YESTERDAY = after(startOfDay(NOW), -1)
const TOMORROW = after(startOfDay(NOW), DAY_MS)
const ANSWER = { status: 410, contentType: 'application/json', body: '{}' } as const

const costing = (costUsd: number) => ({ inputTokens: 0, outputTokens: 0, costUsd, toolCalls: 0 })
const usageOf = (storage: Storage, subject = 'alice', now = NOW) => storage.runs.usage(subject, now)
const admit = (limits: SubjectLimits, now = NOW): Write => ({ type: 'run.admit', subject: 'alice', now, limits })
const alices = (id: string, more: Partial<RunRecord> = {}) => aRun({ id, owner: 'alice', createdAt: NOW, ...more })

export const subjectUsageCases: readonly ContractCase[] = [
  {
    title: 'reports no usage for a subject without runs',
    async run(storage) {
      await insertRuns(storage, aRun({ owner: 'bob' }))

      expect(await usageOf(storage)).toEqual({ activeRuns: 0, runsToday: 0, costUsdToday: 0 })
    },
  },
  {
    title: 'counts queued and running runs as active, whenever they were created',
    async run(storage) {
      await insertRuns(storage, ...RUN_STATUS_NAMES.map((status) => alices(status, { status, createdAt: YESTERDAY })))

      expect(await usageOf(storage)).toEqual({ activeRuns: 2, runsToday: 0, costUsdToday: 0 })
    },
  },
  {
    title: 'counts the runs of the UTC day and their cost, without child runs',
    async run(storage) {
      const run = (id: string, more: Partial<RunRecord>) =>
        alices(id, { status: 'completed', usage: costing(0.25), ...more })
      await insertRuns(
        storage,
        ...[run('last', { createdAt: YESTERDAY }), run('first', { createdAt: startOfDay(NOW) }), run('second', {})],
        run('child', { parentRunId: 'second', parentSeq: 1 }),
      )
      await commit(storage, { type: 'run.charge', runId: 'first', usage: costing(0.5) })

      expect(await usageOf(storage)).toEqual({ activeRuns: 0, runsToday: 2, costUsdToday: 1 })
      expect(await usageOf(storage, 'alice', TOMORROW)).toEqual({ activeRuns: 0, runsToday: 0, costUsdToday: 0 })
    },
  },
  {
    title: 'counts neither a copy of an ended run, which never executed, nor its deletion, but every other fork',
    async run(storage) {
      const forkOf = { runId: 'source', seq: 0 }
      const run = (id: string, more: Partial<RunRecord>) =>
        alices(id, { status: 'completed', sessionId: 's', forkOf, execution: 0, ...more })
      await commit(storage, { type: 'session.insert', session: aSession({ id: 's' }) })
      await insertRuns(
        storage,
        run('copy', { startedAt: NOW }),
        run('executed', { execution: 1, startedAt: NOW }),
        run('aborted before its start', { status: 'aborted' }),
      )
      expect((await usageOf(storage)).runsToday).toBe(2)

      await commit(storage, { type: 'session.delete', id: 's', answer: ANSWER })

      expect((await usageOf(storage)).runsToday).toBe(2)
    },
  },
  {
    title: 'still counts runs of the day that are deleted with their session or thread',
    async run(storage) {
      const ended = { status: 'completed', usage: costing(0.25) } as const
      const thread = { kind: 'workflow', targetId: 'flow', threadId: 't' } as const
      await commit(storage, { type: 'session.insert', session: aSession({ id: 's' }) })
      await insertRuns(
        storage,
        alices('old', { ...ended, sessionId: 's', createdAt: YESTERDAY }),
        alices('one', { ...ended, sessionId: 's' }),
        alices('child', { ...ended, sessionId: 's', parentRunId: 'one', parentSeq: 1 }),
        alices('two', { ...ended, ...thread }),
        alices('three', ended),
      )

      await commit(storage, { type: 'thread.delete', workflowId: 'flow', threadId: 't', answer: ANSWER })
      await commit(storage, { type: 'session.delete', id: 's', answer: ANSWER })

      expect(await findRun(storage, 'one')).toBeUndefined()
      expect(await usageOf(storage)).toEqual({ activeRuns: 0, runsToday: 3, costUsdToday: 0.75 })
      expect((await usageOf(storage, 'alice', TOMORROW)).runsToday).toBe(0)
    },
  },
  {
    title: 'counts no deleted runs of earlier days',
    async run(storage) {
      const run = (id: string, createdAt: EpochMs) =>
        alices(id, { status: 'completed', sessionId: id, createdAt, usage: costing(1) })
      for (const id of ['a', 'b']) await commit(storage, { type: 'session.insert', session: aSession({ id }) })
      await insertRuns(storage, run('a', NOW), run('b', TOMORROW))

      await commit(storage, { type: 'session.delete', id: 'a', answer: ANSWER })
      await commit(storage, { type: 'session.delete', id: 'b', answer: ANSWER })

      expect(await usageOf(storage, 'alice', TOMORROW)).toEqual({ activeRuns: 0, runsToday: 1, costUsdToday: 1 })
    },
  },
  {
    title: 'counts runs of a later day, also deleted ones, while the clock is set back to the day before',
    async run(storage) {
      const run = (id: string) =>
        alices(id, { status: 'completed', sessionId: id, createdAt: TOMORROW, usage: costing(1) })
      for (const id of ['a', 'b']) await commit(storage, { type: 'session.insert', session: aSession({ id }) })
      await insertRuns(storage, run('a'), run('b'))

      await commit(storage, { type: 'session.delete', id: 'a', answer: ANSWER })

      expect(await usageOf(storage)).toEqual({ activeRuns: 0, runsToday: 2, costUsdToday: 2 })
    },
  },
  {
    title: 'still counts the deleted runs of the day after a run of a later day was deleted, in any order of the days',
    async run(storage) {
      const deleted = async (id: string, createdAt: EpochMs) => {
        const run = alices(id, { status: 'completed', sessionId: id, createdAt, usage: costing(1) })
        await commit(
          storage,
          { type: 'session.insert', session: aSession({ id }) },
          { type: 'run.insert', run },
          { type: 'session.delete', id, answer: ANSWER },
        )
      }
      // The clock was ahead when the run of tomorrow was created, and is set back after its deletion.
      await deleted('a', NOW)
      await deleted('b', TOMORROW)
      await deleted('c', NOW)
      await deleted('d', YESTERDAY)

      expect(await usageOf(storage)).toEqual({ activeRuns: 0, runsToday: 3, costUsdToday: 3 })
      expect(await usageOf(storage, 'alice', TOMORROW)).toEqual({ activeRuns: 0, runsToday: 1, costUsdToday: 1 })
      await refused(storage, admit({ runsToday: 3 }))
    },
  },
  {
    title: 'prunes what is known of deleted runs once the day after theirs is over, up to the limit',
    async run(storage) {
      for (const owner of ['alice', 'bob', 'carol']) {
        const id = `of-${owner}`
        await commit(
          storage,
          { type: 'session.insert', session: aSession({ id }) },
          { type: 'run.insert', run: aRun({ id, owner, status: 'completed', sessionId: id, createdAt: NOW }) },
          { type: 'session.delete', id, answer: ANSWER },
        )
      }
      const isOver = after(startOfDay(NOW), 2 * DAY_MS)
      const prune = async (now: EpochMs, limit: number) =>
        (await commit(storage, { type: 'usage.prune', now, limit })).counts[0]

      expect([await prune(after(isOver, -1), 9), (await usageOf(storage)).runsToday]).toEqual([0, 1])
      expect([await prune(isOver, 2), await prune(isOver, 2), await prune(isOver, 2)]).toEqual([2, 1, 0])
      for (const owner of ['alice', 'bob', 'carol']) expect((await usageOf(storage, owner)).runsToday).toBe(0)
    },
  },
  {
    title: 'admits a run below every limit, and refuses it with the usage at any of them',
    async run(storage) {
      await insertRuns(storage, alices('one', { status: 'running', usage: costing(0.5) }))
      const usage = { activeRuns: 1, runsToday: 1, costUsdToday: 0.5 }

      expect((await commit(storage, admit({ activeRuns: 2, runsToday: 2, costUsdToday: 0.51 }))).counts).toEqual([0])
      await commit(storage, admit({}))
      for (const limits of [{ activeRuns: 1 }, { runsToday: 1 }, { costUsdToday: 0.5 }, { runsToday: 0 }]) {
        const { conflict } = await refused(storage, admit(limits))
        expect(conflict).toEqual({ type: 'run.admit', current: usage })
      }
      await commit(storage, admit({ runsToday: 1, costUsdToday: 0.5 }, TOMORROW))
    },
  },
  {
    title: 'stores nothing of a commit whose run is not admitted',
    async run(storage) {
      await refused(storage, { type: 'run.insert', run: alices('one') }, admit({ runsToday: 1 }))

      expect(await findRun(storage, 'one')).toBeUndefined()
      expect((await usageOf(storage)).runsToday).toBe(0)
    },
  },
  {
    title: 'admits no more of many concurrent runs than each limit allows',
    async run(storage) {
      for (const [index, limits] of [{ runsToday: 3 }, { activeRuns: 6 }].entries()) {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, run) =>
            storage.unitOfWork.commit([admit(limits), { type: 'run.insert', run: alices(`${index}-${run}`) }]),
          ),
        )
        expect(outcomes.filter(({ committed }) => committed)).toHaveLength(3)
      }

      expect(await usageOf(storage)).toMatchObject({ activeRuns: 6, runsToday: 6 })
    },
  },
]
