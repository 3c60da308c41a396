import { type StepRange, type StepRecord, type Storage, toJsonText, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, aStep } from '../builders.ts'
import { commit, insertRuns, insertSteps, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { outlineCases } from './outline.contract.ts'
import { pagedListCases } from './paged-list.contract.ts'
import { stepChangeCases } from './step-change.contract.ts'
import { stepCopyCases } from './step-copy.contract.ts'
import { stepPartCases } from './step-part.contract.ts'
import { stepWaitCases } from './step-wait.contract.ts'

const OPTIONALS: Optionals<StepRecord> = {
  result: toJsonText({ text: 'Grüße, 世界 🚢', nested: [null, 0.5] }),
  resultFile: { id: 'file_1', bytes: 5_000_000_000 },
  error: { code: 'step-failed', message: 'it broke' },
  dueAt: at(60_000),
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

const seqOf = (id: string): number => Number(id.slice(-3)) + 1

const completed = (storage: Storage) => storage.steps.completed(RUN_ID, { limit: 200, order: 'asc' })

const listCases: readonly ContractCase[] = [
  ...pagedListCases({
    noun: 'completed calls',
    prepare: (storage) => insertRuns(storage, aRun()),
    insert: (storage, { id, text }) =>
      insertSteps(storage, aStep({ seq: seqOf(id), status: 'completed', result: toJsonText(text) })),
    async list(storage, page) {
      const { items, nextCursor } = await storage.steps.completed(RUN_ID, page)
      return { items: items.map(({ seq }) => ({ id: `row-${String(seq - 1).padStart(3, '0')}` })), nextCursor }
    },
  }),
  ...outlineCases({
    noun: 'results of calls',
    async insert(storage, result) {
      await insertRuns(storage, aRun({ kind: 'workflow', threadId: 'thr_1', status: 'completed' }))
      await insertSteps(storage, aStep({ status: 'completed', result }))
    },
    texts: async (storage) => (await completed(storage)).items.map(({ result }) => result),
    list: async (storage) => ({ items: await storage.steps.list(RUN_ID), nextCursor: null }),
    outline: completed,
    remove: (storage) =>
      commit(storage, {
        type: 'thread.delete',
        workflowId: aRun().targetId,
        threadId: 'thr_1',
        answer: { status: 404, body: '' },
      }),
  }),
  {
    title: 'lists completed calls of this run only, with all their fields',
    async run(storage) {
      const done = aStep({ ...OPTIONALS, status: 'completed', seq: 2 })
      await insertRuns(storage, aRun(), aRun({ id: OPTIONALS.childRunId }), aRun({ id: 'other' }))
      await insertSteps(storage, aStep({ status: 'failed' }), done, aStep({ seq: 3, status: 'waiting' }))
      await insertSteps(storage, aStep({ runId: 'other', status: 'completed' }))

      expect(await storage.steps.completed(RUN_ID, { limit: 9, order: 'asc' })).toEqual({
        items: [done],
        nextCursor: null,
      })
    },
  },
  {
    title: 'lists calls without their results and errors on request',
    async run(storage) {
      const step = aStep(OPTIONALS)
      await insertRuns(storage, aRun(), aRun({ id: OPTIONALS.childRunId }))
      await insertSteps(storage, step)

      const brief = { ...step, result: undefined, error: undefined }
      expect(await storage.steps.list(RUN_ID, { results: false })).toEqual([brief])
      expect(await storage.steps.list(RUN_ID, { results: true })).toEqual([step])
      expect(await storage.steps.listBriefly(RUN_ID, { after: 0, limit: 9 })).toEqual([brief])
    },
  },
  {
    title: 'lists calls in parts, ordered by seq, all or only those with one status',
    async run(storage) {
      const statusOf = (seq: number) => (seq % 3 === 0 ? 'waiting' : 'completed')
      await insertRuns(storage, aRun(), aRun({ id: 'other' }))
      await insertSteps(storage, ...[5, 2, 6, 1, 4, 3].map((seq) => aStep({ seq, status: statusOf(seq) })))
      await insertSteps(storage, aStep({ runId: 'other', seq: 7 }))
      const seqs = async (range: StepRange) => (await storage.steps.listBriefly(RUN_ID, range)).map(({ seq }) => seq)

      expect(await seqs({ after: 0, limit: 4 })).toEqual([1, 2, 3, 4])
      expect(await seqs({ after: 4, limit: 4 })).toEqual([5, 6])
      expect(await seqs({ after: 6, limit: 4 })).toEqual([])
      expect(await seqs({ after: 0, limit: 4, status: 'waiting' })).toEqual([3, 6])
      expect(await seqs({ after: 3, limit: 4, status: 'waiting' })).toEqual([6])
      expect(await storage.steps.listBriefly('run-unknown', { after: 0, limit: 4 })).toEqual([])
    },
  },
  {
    title: 'lists calls with long names in parts of at most 4 MiB',
    async run(storage) {
      await insertRuns(storage, aRun())
      for (const seq of [1, 2, 3]) await insertSteps(storage, aStep({ seq, name: 'x'.repeat(2_000_000) }))

      expect(await storage.steps.listBriefly(RUN_ID, { after: 0, limit: 9 })).toHaveLength(2)
    },
  },
]

const roundTripCases: readonly ContractCase[] = [
  {
    title: 'lists no calls for a run without calls or an unknown run',
    async run(storage) {
      await insertRuns(storage, aRun(), aRun({ id: 'other' }))
      await insertSteps(storage, aStep({ runId: 'other' }))

      expect(await storage.steps.list(RUN_ID)).toEqual([])
      expect(await storage.steps.list('run-unknown')).toEqual([])
    },
  },
  {
    title: 'finds no call for an unknown seq',
    async run(storage) {
      await insertRuns(storage, aRun())
      await insertSteps(storage, aStep({ seq: 2 }))

      for (const seq of [0, 1, 3]) expect(await storage.steps.find(RUN_ID, seq)).toBeUndefined()
      expect(await storage.steps.find('run-unknown', 2)).toBeUndefined()
    },
  },
  {
    title: 'round-trips a call with all, one and none of the optional fields',
    async run(storage) {
      const steps = [{ ...OPTIONALS }, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aStep({ seq: index + 1, ...fields }),
      )
      await insertRuns(storage, aRun(), aRun({ id: OPTIONALS.childRunId }))
      await insertSteps(storage, ...steps)

      expect(await storage.steps.list(RUN_ID)).toEqual(steps)
      for (const step of steps) expect(await storage.steps.find(RUN_ID, step.seq)).toEqual(step)
    },
  },
  {
    title: 'round-trips every call kind and status with an error',
    async run(storage) {
      const kinds = ['step', 'sleep', 'event', 'approval', 'child'] as const
      const statuses = ['started', 'waiting', 'completed', 'failed'] as const
      const errors = [
        { code: 'step-failed', message: '' },
        { code: 'timeout', message: 'm' },
      ]
      const steps = kinds
        .flatMap((kind) => statuses.flatMap((status) => errors.map((error) => ({ kind, status, error }))))
        .map((fields, index) => aStep({ seq: index + 1, ...fields }))
      await insertRuns(storage, aRun())
      await insertSteps(storage, ...steps)

      expect(await storage.steps.list(RUN_ID)).toEqual(steps)
    },
  },
  {
    title: 'round-trips the name and result of a call exactly',
    async run(storage) {
      const result = toJsonText({ text: 'ü'.repeat(524_288) })
      const step = aStep({ name: 'read "a.b"\n🚢', seq: 1_000_000, attempt: 1_000_000, result })
      await insertRuns(storage, aRun())
      await insertSteps(storage, step)

      expect(await storage.steps.list(RUN_ID)).toEqual([step])
    },
  },
  {
    title: 'lists the calls of a run by seq rather than insertion',
    async run(storage) {
      await insertRuns(storage, aRun(), aRun({ id: 'other' }))
      for (const seq of [10, 2, 1, 9, 11]) {
        await insertSteps(storage, aStep({ seq, startedAt: at(-seq) }), aStep({ runId: 'other', seq: seq + 100 }))
      }

      expect((await storage.steps.list(RUN_ID)).map(({ seq }) => seq)).toEqual([1, 2, 9, 10, 11])
    },
  },
  {
    title: 'refuses a call with a taken seq and returns the existing call',
    async run(storage) {
      const first = aStep({ ...OPTIONALS, name: 'first' })
      await insertRuns(storage, aRun(), aRun({ id: 'other' }), aRun({ id: OPTIONALS.childRunId }))
      await insertSteps(storage, first)

      const outcome = await refused(storage, { type: 'step.insert', step: aStep({ name: 'second' }) })

      expect(outcome.conflict).toEqual({ type: 'step.insert', current: first })
      expect(await storage.steps.list(RUN_ID)).toEqual([first])
      await insertSteps(storage, aStep({ runId: 'other', name: 'second' }), aStep({ seq: 2, name: 'second' }))
    },
  },
]

const fence = (...seqs: readonly number[]): Write => ({ type: 'step.fence', runId: RUN_ID, seqs })

/** Calls 1, 2 and 5 are waiting; calls 3 and 4 are not. */
async function insertFenced(storage: Storage): Promise<void> {
  await insertRuns(storage, aRun(), aRun({ id: 'other' }))
  for (const seq of [1, 2, 5]) await insertSteps(storage, aStep({ seq, status: 'waiting', kind: 'event' }))
  await insertSteps(storage, aStep({ seq: 3, status: 'completed' }), aStep({ seq: 4 }))
  await insertSteps(storage, aStep({ runId: 'other', seq: 3, status: 'waiting' }))
}

const fenceCases: readonly ContractCase[] = [
  {
    title: 'passes a call fence whose calls are all waiting and changes nothing',
    async run(storage) {
      await insertFenced(storage)
      const before = await storage.steps.list(RUN_ID)

      await commit(storage, fence(1), fence(1, 2, 5), fence(5, 1), fence())

      expect(await storage.steps.list(RUN_ID)).toEqual(before)
    },
  },
  {
    title: 'returns the first call of a fence that is not waiting',
    async run(storage) {
      await insertFenced(storage)
      const [, , third, fourth] = await storage.steps.list(RUN_ID)

      for (const [seqs, current] of [
        [[3], third],
        [[1, 2, 3], third],
        [[1, 3, 4], third],
        [[1, 4, 3], fourth],
        [[4, 5], fourth],
      ] as const) {
        const { conflict } = await refused(storage, fence(...seqs))
        expect(conflict, `${seqs}`).toEqual({ type: 'step.fence', current })
      }
    },
  },
  {
    title: 'conflicts at the fence of an unknown call and returns no current call',
    async run(storage) {
      await insertFenced(storage)

      for (const seqs of [[6], [1, 6, 3]]) {
        expect((await refused(storage, fence(...seqs))).conflict).toEqual({ type: 'step.fence' })
      }
    },
  },
  {
    title: 'checks a call fence after the earlier writes of the same commit',
    async run(storage) {
      await insertFenced(storage)
      const endCall: Write = {
        type: 'step.change',
        runId: RUN_ID,
        seq: 1,
        from: 'waiting',
        change: { status: 'completed' },
      }

      expect(await refused(storage, endCall, fence(1))).toMatchObject({ index: 1, conflict: { type: 'step.fence' } })
      await commit(storage, fence(1), endCall)
      expect((await refused(storage, fence(1, 2))).conflict).toMatchObject({ current: { seq: 1, status: 'completed' } })
    },
  },
]

export const stepStoreCases: readonly ContractCase[] = [
  ...roundTripCases,
  ...listCases,
  ...stepPartCases,
  ...stepChangeCases,
  ...stepCopyCases,
  ...fenceCases,
  ...stepWaitCases,
]

/** Requirements for every `StepStore` and for writes of durable calls. */
export const stepStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'StepStore', cases: stepStoreCases }], harness)
