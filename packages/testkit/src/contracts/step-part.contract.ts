import { type JsonText, MAX_PAGE_BYTES, type StepRecord, toJsonText } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, aStep } from '../builders.ts'
import { insertRuns, insertSteps } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const RUN_ID = aRun().id

const FIELDS: Partial<StepRecord> = {
  result: toJsonText({ text: 'Grüße, 世界 🚢', nested: [null, 0.5] }),
  error: { code: 'step-failed', message: 'it broke' },
  dueAt: at(60_000),
  eventName: 'invoice.paid',
  approvalId: 'apr_1',
  askedHash: 'a1b2',
  childRunId: 'run_child',
  usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5, toolCalls: 3 },
  endOrder: 7,
  endedAt: at(5),
}

export const stepPartCases: readonly ContractCase[] = [
  {
    title: 'reads calls with all their fields in parts, ordered by seq',
    async run(storage) {
      const steps = [1, 2, 3, 4].map((seq) => aStep({ ...FIELDS, seq }))
      await insertRuns(storage, aRun(), aRun({ id: 'run_child' }), aRun({ id: 'other' }))
      await insertSteps(storage, ...steps.toReversed(), aStep({ runId: 'other', seq: 5 }))
      const read = (after: number, limit: number) =>
        storage.steps.read(RUN_ID, { after, limit, maxBytes: MAX_PAGE_BYTES })

      expect(await read(0, 3)).toEqual({ items: steps.slice(0, 3), hasMore: true })
      expect(await read(3, 3)).toEqual({ items: steps.slice(3), hasMore: false })
      expect(await read(0, 4)).toEqual({ items: steps, hasMore: false })
      expect(await read(4, 3)).toEqual({ items: [], hasMore: false })
      expect(await storage.steps.read('run-unknown', { after: 0, limit: 3, maxBytes: 9 })).toEqual({
        items: [],
        hasMore: false,
      })
    },
  },
  {
    title: 'ends a part of calls before the one whose content would exceed its bytes, whatever the characters',
    async run(storage) {
      const texts = ['x'.repeat(40_000), 'ü'.repeat(20_000), '\u0000\u0001'.repeat(20_000), 'x'.repeat(300_000), 'x']
      const steps = texts.map((text, index) => aStep({ seq: index + 1, result: text as JsonText }))
      await insertRuns(storage, aRun())
      await insertSteps(storage, ...steps)
      const parts: (readonly number[])[] = []
      for (let after = 0, hasMore = true; hasMore; ) {
        const part = await storage.steps.read(RUN_ID, { after, limit: 9, maxBytes: 100_000 })
        expect(part.items).toEqual(steps.filter(({ seq }) => part.items.some((step) => step.seq === seq)))
        parts.push(part.items.map(({ seq }) => seq))
        after = part.items.at(-1)?.seq ?? Number.POSITIVE_INFINITY
        hasMore = part.hasMore
      }

      expect(parts).toEqual([[1, 2], [3], [4], [5]])
    },
  },
  {
    title: 'lists calls that have ended in the order of their ends, without results and errors',
    async run(storage) {
      await insertRuns(storage, aRun(), aRun({ id: 'run_child' }), aRun({ id: 'other' }))
      const ended = [
        aStep({ ...FIELDS, seq: 4, status: 'completed', endOrder: 1 }),
        aStep({ seq: 2, status: 'failed', endOrder: 2 }),
        aStep({ seq: 9, status: 'completed', endOrder: 5 }),
      ]
      await insertSteps(storage, ...ended.toReversed(), aStep({ seq: 3, status: 'waiting' }), aStep({ seq: 5 }))
      await insertSteps(storage, aStep({ runId: 'other', seq: 7, status: 'completed', endOrder: 3 }))
      const brief = ended.map((step) => ({ ...step, result: undefined, error: undefined }))

      expect(await storage.steps.ended(RUN_ID, { after: 0, limit: 3 })).toEqual({ items: brief, hasMore: false })
      expect(await storage.steps.ended(RUN_ID, { after: 0, limit: 2 })).toEqual({
        items: brief.slice(0, 2),
        hasMore: true,
      })
      expect(await storage.steps.ended(RUN_ID, { after: 1, limit: 9 })).toEqual({
        items: brief.slice(1),
        hasMore: false,
      })
      expect(await storage.steps.ended(RUN_ID, { after: 5, limit: 9 })).toEqual({ items: [], hasMore: false })
      expect(await storage.steps.ended('run-unknown', { after: 0, limit: 9 })).toEqual({ items: [], hasMore: false })
    },
  },
]
