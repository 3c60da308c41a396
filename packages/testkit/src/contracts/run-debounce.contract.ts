import {
  type EpochMs,
  EVERY_ROW,
  type FlowKeys,
  isStoredText,
  type RunFilter,
  type RunRecord,
  type Storage,
  toJsonText,
  type Visibility,
} from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { commit, findRun, insertRuns, refused, walk } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const FLOWS: readonly FlowKeys[] = [
  {},
  { concurrency: '' },
  { rate: 'ada' },
  { debounce: 'k' },
  { rate: '1', debounce: '2' },
  { background: {} },
  { onBusy: 'steer', background: { reportTo: 'chat' } },
]

/** Moves the start of a queued run if it still has this start time. */
const postpone = (startAt: EpochMs | undefined, change: Partial<RunRecord>) =>
  ({ type: 'run.transition', runId: aRun().id, from: ['queued'], attempt: 1, startAt, change }) as const

const page = { limit: 200, order: 'desc' } as const

const idsOf = async ({ runs }: Storage, filter: RunFilter, visibility: Visibility) =>
  (await runs.list(filter, page, visibility)).items.map(({ id }) => id)

export const runDebounceCases: readonly ContractCase[] = [
  {
    title: 'round-trips every priority and every combination of flow keys, also through a list',
    async run(storage) {
      const priorities = [-100, -1, 0, 1, 100].map((priority) => aRun({ id: `priority ${priority}`, priority }))
      const flows = FLOWS.map((flow, index) => aRun({ id: `flow ${index}`, flow }))
      const runs = [...priorities, ...flows, aRun({ id: 'neither' })]
      await insertRuns(storage, ...runs)

      for (const run of runs) {
        expect(await findRun(storage, run.id)).toEqual(run)
        expect((await storage.runs.list({ ids: [run.id] }, page, EVERY_ROW)).items).toEqual([run])
      }
      const neither = await findRun(storage, 'neither')
      expect([neither?.priority, neither?.flow]).toEqual([undefined, undefined])
    },
  },
  {
    title: 'makes a transition with a start time only while the run has that start time',
    async run(storage) {
      const run = aRun({ startAt: at(50), input: toJsonText('old') })
      await insertRuns(storage, run)
      const change = { startAt: at(80), input: toJsonText('new') }

      for (const startAt of [at(0), at(49), at(51)]) {
        const { conflict } = await refused(storage, postpone(startAt, change))
        expect(conflict).toEqual({ type: 'run.transition', current: run })
      }
      expect(await findRun(storage, run.id)).toEqual(run)

      await commit(storage, postpone(at(50), change))
      expect(await findRun(storage, run.id)).toEqual({ ...run, ...change })
      expect((await refused(storage, postpone(at(50), change))).conflict).toEqual({
        type: 'run.transition',
        current: { ...run, ...change },
      })
      expect(
        (await storage.runTimers.starting({ after: at(0), through: at(99) }, 9)).map(({ input }) => input),
      ).toEqual([change.input])
    },
  },
  {
    title: 'refuses a transition with a start time if the run has none, and ignores the start time without one',
    async run(storage) {
      await insertRuns(storage, aRun())
      expect((await refused(storage, postpone(at(0), {}))).conflict).toEqual({
        type: 'run.transition',
        current: aRun(),
      })

      await commit(storage, postpone(undefined, { startAt: at(5) }))
      await commit(storage, postpone(undefined, { startAt: at(6) }))
      expect(await findRun(storage, aRun().id)).toEqual(aRun({ startAt: at(6) }))
    },
  },
  {
    title: 'lets exactly one of many concurrent callers move a start time',
    async run(storage) {
      await insertRuns(storage, aRun({ startAt: at(50) }))
      const inputs = Array.from({ length: 10 }, (_, index) => toJsonText(index))

      const outcomes = await Promise.all(
        inputs.map((input, index) => storage.unitOfWork.commit([postpone(at(50), { startAt: at(60 + index), input })])),
      )

      const winner = outcomes.findIndex(({ committed }) => committed)
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      expect(await findRun(storage, aRun().id)).toEqual(aRun({ startAt: at(60 + winner), input: inputs[winner] }))
    },
  },
  {
    title: 'reads the input that a transition replaced, in every list and as a stored text',
    async run(storage) {
      await insertRuns(storage, aRun({ input: toJsonText('x'.repeat(9_000)) }))
      for (const text of ['new', 'ü🚢'.repeat(3_000), '']) {
        const input = toJsonText(text)
        await commit(storage, postpone(undefined, { input }))

        expect((await findRun(storage, aRun().id))?.input).toBe(input)
        expect((await storage.runs.list({}, page, EVERY_ROW)).items[0]?.input).toBe(input)
        const outlined = (await storage.runs.outline({}, page, EVERY_ROW)).items[0]?.input
        const bytes = isStoredText(outlined)
          ? await outlined.read(0, outlined.bytes)
          : new TextEncoder().encode(outlined)
        expect(new TextDecoder().decode(bytes)).toBe(input)
      }
    },
  },
  {
    title: 'lists the visible runs with a debounce key, newest first',
    async run(storage) {
      const insert = (id: string, ms: number, over: Partial<RunRecord>) =>
        insertRuns(storage, aRun({ id, createdAt: at(ms), startAt: at(99), ...over }))
      await insert('a', 0, { flow: { debounce: 'k' } })
      await insert('b', 1, { flow: { debounce: 'k', rate: 'r' }, owner: 'bob' })
      await insert('c', 2, { flow: { rate: 'k', concurrency: 'k' } })
      await insert('d', 3, { flow: { debounce: 'k' }, targetId: 'other' })
      await insert('e', 4, { flow: { debounce: '' }, sessionId: 'ses' })
      await insert('f', 5, { flow: { debounce: 'k' }, status: 'running' })
      await insert('g', 6, { metadata: { debounce: 'k' } })
      const change = { flow: { debounce: 'k', rate: 'new' } }
      await commit(storage, { type: 'run.transition', runId: 'a', from: ['queued'], attempt: 1, change })

      const queued = { debounce: 'k', statuses: ['queued'] } as const
      expect(await idsOf(storage, { debounce: 'k' }, EVERY_ROW)).toEqual(['f', 'd', 'b', 'a'])
      expect(await idsOf(storage, queued, EVERY_ROW)).toEqual(['d', 'b', 'a'])
      expect(await idsOf(storage, { ...queued, kind: 'agent', targetId: 'echo', owner: 'alice' }, EVERY_ROW)).toEqual([
        'a',
      ])
      expect(await idsOf(storage, queued, { owner: 'bob' })).toEqual(['b'])
      expect(await idsOf(storage, { debounce: '' }, EVERY_ROW)).toEqual(['e'])
      expect(await idsOf(storage, { debounce: '', sessionId: 'other' }, EVERY_ROW)).toEqual([])
      expect(await idsOf(storage, { debounce: 'K' }, EVERY_ROW)).toEqual([])
      const walked = await walk((query) => storage.runs.list({ debounce: 'k' }, query, EVERY_ROW), {
        limit: 1,
        order: 'asc',
      })
      expect(walked.map(({ id }) => id)).toEqual(['a', 'b', 'd', 'f'])
    },
  },
]
