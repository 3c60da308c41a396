import type { Storage } from '@perdure/ports'
import { RUN_STATUS_NAMES } from '@perdure/protocol'
import { expect } from 'vitest'
import { aMessage, aRun, aSession } from '../builders.ts'
import { commit } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at } from './optional-fields.ts'

const insertSession = (storage: Storage, id: string, ms: number) =>
  commit(storage, { type: 'session.insert', session: aSession({ id, createdAt: at(ms), updatedAt: at(ms) }) })

const say = (storage: Storage, sessionId: string, ms: number) =>
  commit(storage, { type: 'message.append', message: aMessage({ id: `msg-${ms}`, sessionId, createdAt: at(ms) }) })

const seen = (storage: Storage, sessionId: string, ms: number) =>
  commit(storage, { type: 'consolidation.seen', sessionId, changedAt: at(ms) })

const idle = async (storage: Storage, ms: number, limit = 10) =>
  (await storage.consolidation.idleSessions(at(ms), limit)).map(({ sessionId }) => sessionId)

export const consolidationStoreCases: readonly ContractCase[] = [
  {
    title: 'lists sessions that changed at or before an instant, longest unchanged first',
    async run(storage) {
      await insertSession(storage, 'b', 1)
      await insertSession(storage, 'a', 2)
      await insertSession(storage, 'late', 9)
      await say(storage, 'b', 4)

      expect(await storage.consolidation.idleSessions(at(4), 10)).toEqual([
        { sessionId: 'a', owner: 'alice', changedAt: at(2) },
        { sessionId: 'b', owner: 'alice', changedAt: at(4) },
      ])
      expect(await idle(storage, 3)).toEqual(['a'])
      expect(await idle(storage, 9, 1)).toEqual(['a'])
    },
  },
  {
    title: 'lists a session again only after a new change',
    async run(storage) {
      await insertSession(storage, 'a', 1)

      expect((await seen(storage, 'a', 1)).counts).toEqual([1])
      expect((await seen(storage, 'a', 1)).counts).toEqual([0])
      expect(await idle(storage, 9)).toEqual([])
      await say(storage, 'a', 2)
      expect(await idle(storage, 9)).toEqual(['a'])
      expect((await seen(storage, 'a', 1)).counts).toEqual([0])
      expect(await idle(storage, 9)).toEqual(['a'])
      expect((await seen(storage, 'unknown', 9)).counts).toEqual([0])
    },
  },
  {
    title: 'lists no session that has an active run',
    async run(storage) {
      for (const status of RUN_STATUS_NAMES) {
        await insertSession(storage, status, 1)
        const run = aRun({ id: `run-${status}`, sessionId: status, status })
        await commit(storage, { type: 'run.insert', run })
      }

      expect((await idle(storage, 9)).sort()).toEqual(['aborted', 'completed', 'failed'])
    },
  },
  {
    title: 'records the last extracted message of a session and never moves backwards',
    async run(storage) {
      await insertSession(storage, 'a', 1)
      const extracted = (sessionId: string, throughSeq: number) =>
        commit(storage, { type: 'consolidation.extracted', sessionId, throughSeq })

      expect(await storage.consolidation.extractedThrough('a')).toBe(0)
      await extracted('a', 5)
      await extracted('a', 3)
      expect(await storage.consolidation.extractedThrough('a')).toBe(5)
      expect((await extracted('unknown', 3)).counts).toEqual([0])
      expect(await storage.consolidation.extractedThrough('unknown')).toBe(0)
    },
  },
  {
    title: 'sums the spend of a day',
    async run(storage) {
      const spend = (day: string, tokens: number, costUsd: number) =>
        commit(storage, { type: 'consolidation.spend', day, spend: { tokens, costUsd } })

      expect(await storage.consolidation.spentOn('2025-01-01')).toEqual({ tokens: 0, costUsd: 0 })
      await Promise.all(Array.from({ length: 20 }, () => spend('2025-01-01', 3, 0.25)))
      await spend('2025-01-02', 1, 0)
      expect(await storage.consolidation.spentOn('2025-01-01')).toEqual({ tokens: 60, costUsd: 5 })
      expect(await storage.consolidation.spentOn('2025-01-02')).toEqual({ tokens: 1, costUsd: 0 })
    },
  },
]

/** Requirements for every `ConsolidationStore` and its writes. */
export const consolidationStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'ConsolidationStore', cases: consolidationStoreCases }], harness)
