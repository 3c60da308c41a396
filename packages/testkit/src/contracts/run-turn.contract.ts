import { EVERY_ROW, type RunRecord, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, findRun, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const withdraw = (from: string, by: string, sessionId = 'chat') =>
  ({ type: 'run.withdraw', sessionId, from, by }) as const

const turn = (id: string, over: Partial<RunRecord> = {}): RunRecord =>
  aRun({ ...{ id, sessionId: 'chat', status: 'completed', completedAt: at(9) }, ...over })

const turnsOf = async ({ runs }: Storage, sessionId = 'chat'): Promise<readonly string[]> =>
  (await runs.list({ sessionId, isTurn: true }, { limit: 50, order: 'asc', content: [] }, EVERY_ROW)).items.map(
    ({ id }) => id,
  )

export const runTurnCases: readonly ContractCase[] = [
  {
    title: 'withdraws a run and the later runs of its session, except the one that replaces them',
    async run(storage) {
      await insertRuns(
        storage,
        turn('a', { createdAt: at(1) }),
        turn('c', { createdAt: at(2) }),
        turn('b', { createdAt: at(2) }),
        turn('d', { createdAt: at(3) }),
        turn('e', { createdAt: at(4) }),
      )
      expect(await turnsOf(storage)).toEqual(['a', 'b', 'c', 'd', 'e'])

      expect((await commit(storage, withdraw('c', 'e'))).counts).toEqual([2])

      expect(await turnsOf(storage)).toEqual(['a', 'b', 'e'])
      expect(await findRun(storage, 'd')).toEqual(turn('d', { createdAt: at(3), withdrawnBy: 'e' }))
      expect((await commit(storage, withdraw('c', 'e'))).counts).toEqual([0])
    },
  },
  {
    title: 'withdraws neither child runs nor runs of other sessions',
    async run(storage) {
      await insertRuns(storage, turn('a'), turn('b', { sessionId: 'other' }), turn('c'))
      await insertRuns(storage, turn('child', { parentRunId: 'a', parentSeq: 1, depth: 1 }))

      expect((await commit(storage, withdraw('a', 'c'))).counts).toEqual([1])
      expect((await findRun(storage, 'child'))?.withdrawnBy).toBeUndefined()
      expect(await turnsOf(storage, 'other')).toEqual(['b'])
      const none = [withdraw('b', 'c'), withdraw('child', 'c'), withdraw('unknown', 'c')]
      expect((await commit(storage, ...none)).counts).toEqual([0, 0, 0])
      expect(await turnsOf(storage)).toEqual(['c'])
    },
  },
  {
    title: 'marks the active runs that it withdraws for a follow-up',
    async run(storage) {
      await insertRuns(
        storage,
        turn('a'),
        turn('b', { status: 'suspended', completedAt: undefined }),
        turn('c', { status: 'running', completedAt: undefined }),
      )
      await commit(storage, withdraw('a', 'c'))

      expect((await storage.runs.needingFollowUp(10)).map(({ id }) => id)).toEqual(['b'])
      await commit(storage, { type: 'run.followed-up', runId: 'b' })
      expect(await storage.runs.needingFollowUp(10)).toEqual([])
      expect((await findRun(storage, 'b'))?.withdrawnBy).toBe('c')
    },
  },
  {
    title: 'is undone with its commit',
    async run(storage) {
      await insertRuns(storage, turn('a'), turn('b', { status: 'running', completedAt: undefined }), turn('c'))
      await refused(storage, withdraw('a', 'c'), { type: 'run.insert', run: turn('a') })

      expect(await turnsOf(storage)).toEqual(['a', 'b', 'c'])
      expect(await storage.runs.needingFollowUp(10)).toEqual([])
    },
  },
]
