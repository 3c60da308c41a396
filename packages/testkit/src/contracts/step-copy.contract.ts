import { type StepRecord, toJsonText, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, aStep } from '../builders.ts'
import { commit, insertRuns, insertSteps, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const FIELDS: Partial<StepRecord> = {
  result: toJsonText({ text: 'Grüße, 世界 🚢', nested: [null, 0.5] }),
  resultFile: { id: 'file_1', bytes: 5_000_000_000 },
  error: { code: 'step-failed', message: 'it broke' },
  eventName: 'invoice.paid',
  approvalId: 'apr_1',
  askedHash: 'a1b2',
  childRunId: 'run_child',
  usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5, toolCalls: 3 },
  recoveries: 3,
  endOrder: 7,
  endedAt: at(5),
}

const RUN_ID = aRun().id

export const stepCopyCases: readonly ContractCase[] = [
  {
    title: 'copies calls of another run with all their fields, except for the attempt, the order and the usage',
    async run(storage) {
      const done = aStep({ ...FIELDS, status: 'completed', seq: 2 })
      const plain = aStep({ seq: 1, status: 'completed', endOrder: 8 })
      await insertRuns(storage, aRun(), aRun({ id: 'fork', attempt: 2 }))
      await insertSteps(storage, plain, done, aStep({ seq: 3, status: 'waiting' }))
      const calls = [
        { seq: 2, endOrder: 1 },
        { seq: 1, endOrder: 2 },
      ]
      const copy: Write = { ...{ type: 'step.copy', runId: 'fork', attempt: 2, source: RUN_ID }, calls }
      expect((await commit(storage, copy)).counts).toEqual([2])

      const { usage: _, ...rest } = done
      expect(await storage.steps.list('fork')).toEqual([
        { ...plain, runId: 'fork', attempt: 2, endOrder: 2 },
        { ...rest, runId: 'fork', attempt: 2, endOrder: 1 },
      ])
      expect(await storage.steps.list(RUN_ID)).toHaveLength(3)
      await commit(storage, { type: 'step.insert', step: aStep({ runId: 'fork', seq: 3, status: 'started' }) })
      const change = { status: 'completed', endedAt: at(9) } as const
      await commit(storage, { type: 'step.change', runId: 'fork', seq: 3, from: 'started', change })
      expect((await storage.steps.find('fork', 3))?.endOrder).toBe(3)
    },
  },
  {
    title: 'copies no call when the source lacks one of them, or the run has one',
    async run(storage) {
      await insertRuns(storage, aRun(), aRun({ id: 'fork' }))
      await insertSteps(storage, aStep({ seq: 1 }), aStep({ seq: 2 }))
      const copy = (...seqs: readonly number[]) => ({
        ...({ type: 'step.copy', runId: 'fork', attempt: 1, source: RUN_ID } as const),
        calls: seqs.map((seq, index) => ({ seq, endOrder: index + 1 })),
      })

      expect((await refused(storage, copy(1, 3))).conflict).toEqual({ type: 'step.copy' })
      expect(await storage.steps.list('fork')).toEqual([])
      await commit(storage, copy(2))
      expect((await refused(storage, copy(1, 2))).conflict).toMatchObject({
        type: 'step.copy',
        current: { runId: 'fork', seq: 2 },
      })
      expect(await storage.steps.list('fork')).toHaveLength(1)
    },
  },
]
