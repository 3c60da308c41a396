import { type StepChange, type StepRecord, type StepStatus, type Storage, toJsonText, type Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, aStep } from '../builders.ts'
import { commit, insertRuns, insertSteps, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const RUN_ID = aRun().id
const STATUSES: readonly StepStatus[] = ['started', 'waiting', 'completed', 'failed']

const CHANGE: Required<StepChange> = {
  status: 'waiting',
  recoveries: 2,
  attempt: 4,
  result: toJsonText(['late']),
  resultFile: { id: 'file_2', bytes: 2 },
  error: { code: 'timeout', message: 'too slow' },
  dueAt: at(10),
  eventName: 'tool:call_2',
  approvalId: 'apr_2',
  askedHash: 'c3d4',
  usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5, toolCalls: 3 },
  endedAt: at(20),
}

const WHOLE = aStep({
  result: toJsonText('early'),
  resultFile: { id: 'file_1', bytes: 1 },
  error: { code: 'step-failed', message: 'm' },
  dueAt: at(1),
  eventName: 'invoice.paid',
  approvalId: 'apr_1',
  askedHash: 'a1b2',
  endOrder: 3,
  endedAt: at(2),
})

const changeOf = (
  { runId, seq, status }: Pick<StepRecord, 'runId' | 'seq' | 'status'>,
  change: StepChange,
): Extract<Write, { readonly type: 'step.change' }> => ({ type: 'step.change', runId, seq, from: status, change })

const find = (storage: Storage, { runId, seq }: Pick<StepRecord, 'runId' | 'seq'>) => storage.steps.find(runId, seq)

const fieldCases: readonly ContractCase[] = [
  {
    title: 'sets every field that a call change names',
    async run(storage) {
      await insertRuns(storage, aRun())
      await insertSteps(storage, WHOLE)

      const { counts } = await commit(storage, changeOf(WHOLE, CHANGE))

      expect(counts).toEqual([1])
      expect(await find(storage, WHOLE)).toEqual({ ...WHOLE, ...CHANGE })
    },
  },
  {
    title: 'sets each field of a call change independently',
    async run(storage) {
      await insertRuns(storage, aRun())
      const fields = Object.entries(CHANGE).map(([field, value]) => ({ [field]: value }) as StepChange)
      for (const [index, change] of fields.entries()) {
        const step = aStep({ seq: index + 1 })
        await insertSteps(storage, step)
        await commit(storage, changeOf(step, change))

        expect(await find(storage, step)).toEqual({ ...step, ...change })
      }
    },
  },
  {
    title: 'keeps every field that a call change does not name or names as undefined',
    async run(storage) {
      const neighbours = [aStep({ seq: 2 }), aStep({ runId: 'other' })]
      await insertRuns(storage, aRun(), aRun({ id: 'other' }))
      await insertSteps(storage, WHOLE, ...neighbours)
      const nothing = Object.fromEntries(Object.keys(CHANGE).map((field) => [field, undefined])) as StepChange

      for (const change of [{}, nothing, { status: 'waiting' as const, dueAt: undefined }]) {
        await commit(storage, changeOf(WHOLE, change))
      }

      expect(await find(storage, WHOLE)).toEqual({ ...WHOLE, status: 'waiting' })
      for (const step of neighbours) expect(await find(storage, step)).toEqual(step)
    },
  },
  {
    title: 'allows a call change from its expected status and from no other status',
    async run(storage) {
      await insertRuns(storage, aRun())
      for (const [index, status] of STATUSES.entries()) {
        const step = aStep({ seq: index + 1, status })
        await insertSteps(storage, step)

        for (const from of STATUSES.filter((other) => other !== status)) {
          const outcome = await refused(storage, { ...changeOf(step, { status: 'waiting' }), from })
          expect(outcome.conflict).toEqual({ type: 'step.change', current: step })
        }
        await commit(storage, changeOf(step, { attempt: 2 }))
        expect(await find(storage, step)).toEqual({ ...step, attempt: 2 })
      }
    },
  },
  {
    title: 'refuses to change an unknown call and returns no current call',
    async run(storage) {
      await insertRuns(storage, aRun(), aRun({ id: 'other' }))
      await insertSteps(storage, aStep({ runId: 'other', seq: 2 }))

      for (const unknown of [aStep({ seq: 2 }), aStep({ runId: 'run-unknown' })]) {
        expect((await refused(storage, changeOf(unknown, {}))).conflict).toEqual({ type: 'step.change' })
      }
    },
  },
]

/** Five calls for each of two runs, alternating between executing and waiting. */
async function insertOpen(storage: Storage): Promise<void> {
  await insertRuns(storage, aRun(), aRun({ id: 'other' }))
  for (const seq of [1, 2, 3, 4, 5]) {
    const status = statusOf(seq)
    await insertSteps(storage, aStep({ seq, status }), aStep({ runId: 'other', seq, status }))
  }
}

const statusOf = (seq: number): StepStatus => (seq % 2 === 0 ? 'waiting' : 'started')

const endCall = (seq: number, status: 'completed' | 'failed', runId = RUN_ID): Write =>
  changeOf({ runId, seq, status: statusOf(seq) }, { status, endedAt: at(0) })

const ordersOf = async (storage: Storage, runId = RUN_ID) =>
  (await storage.steps.list(runId)).map(({ endOrder }) => endOrder)

const orderCases: readonly ContractCase[] = [
  {
    title: 'numbers the calls of each run in the order in which they complete or fail',
    async run(storage) {
      await insertOpen(storage)
      await commit(storage, endCall(3, 'completed'))
      await commit(storage, endCall(1, 'failed'), endCall(4, 'completed', 'other'), endCall(5, 'completed'))
      await commit(storage, endCall(2, 'failed', 'other'), endCall(4, 'failed'))

      expect(await ordersOf(storage)).toEqual([2, undefined, 1, 4, 3])
      expect(await ordersOf(storage, 'other')).toEqual([undefined, 2, undefined, 1, undefined])
    },
  },
  {
    title: 'assigns no end order to a started or waiting call',
    async run(storage) {
      await insertOpen(storage)
      await commit(
        storage,
        changeOf({ runId: RUN_ID, seq: 1, status: 'started' }, { status: 'waiting' }),
        changeOf({ runId: RUN_ID, seq: 2, status: 'waiting' }, { status: 'started', attempt: 2 }),
        changeOf({ runId: RUN_ID, seq: 3, status: 'started' }, { result: toJsonText(1) }),
      )

      expect(await ordersOf(storage)).toEqual([undefined, undefined, undefined, undefined, undefined])
    },
  },
  {
    title: 'leaves no gap in the end order after a rollback',
    async run(storage) {
      await insertOpen(storage)
      await commit(storage, endCall(1, 'completed'))
      await refused(storage, endCall(2, 'completed'), endCall(3, 'failed'), endCall(1, 'completed'))

      await commit(storage, endCall(5, 'completed'))

      expect(await ordersOf(storage)).toEqual([1, undefined, undefined, undefined, 2])
    },
  },
  {
    title: 'continues after the highest end order of inserted calls',
    async run(storage) {
      await insertRuns(storage, aRun())
      await insertSteps(
        storage,
        aStep({ endOrder: 8, status: 'completed' }),
        aStep({ seq: 2 }),
        aStep({ seq: 3, endOrder: 4 }),
      )
      await commit(storage, changeOf(aStep({ seq: 2 }), { status: 'completed' }))

      expect(await ordersOf(storage)).toEqual([8, 9, 4])
    },
  },
]

const restartCases: readonly ContractCase[] = [
  {
    title: 'removes the outcome of a call that is changed to started',
    async run(storage) {
      const gone = {
        ...{ result: undefined, resultFile: undefined, error: undefined },
        ...{ dueAt: undefined, endedAt: undefined, endOrder: undefined },
      }
      await insertRuns(storage, aRun())
      for (const [index, status] of STATUSES.entries()) {
        const step: StepRecord = { ...WHOLE, seq: index + 1, status }
        await insertSteps(storage, step)

        await commit(storage, changeOf(step, { status: 'started', attempt: 2 }))

        expect(await find(storage, step)).toEqual({ ...step, ...gone, status: 'started', attempt: 2 })
      }
    },
  },
  {
    title: 'keeps the fields that a change to started sets',
    async run(storage) {
      const { status: _, ...fields } = CHANGE
      await insertRuns(storage, aRun())
      await insertSteps(storage, WHOLE)

      await commit(storage, changeOf(WHOLE, { ...fields, status: 'started' }))

      expect(await find(storage, WHOLE)).toEqual({ ...WHOLE, ...fields, status: 'started', endOrder: undefined })
    },
  },
  {
    title: 'keeps the outcome of a call when the commit that restarts it is rolled back',
    async run(storage) {
      await insertOpen(storage)
      await commit(storage, endCall(1, 'failed'), endCall(3, 'completed'))
      const before = await storage.steps.list(RUN_ID)

      await refused(
        storage,
        changeOf({ runId: RUN_ID, seq: 3, status: 'completed' }, { status: 'started' }),
        endCall(3, 'failed', 'unknown'),
      )
      expect(await storage.steps.list(RUN_ID)).toEqual(before)

      await commit(storage, endCall(5, 'completed'))
      expect(await ordersOf(storage)).toEqual([1, undefined, 2, undefined, 3])
    },
  },
  {
    title: 'numbers a restarted call behind the calls that have ended',
    async run(storage) {
      await insertOpen(storage)
      await commit(storage, endCall(1, 'failed'), endCall(3, 'completed'))

      await commit(storage, changeOf({ runId: RUN_ID, seq: 1, status: 'failed' }, { status: 'started' }))
      await commit(storage, endCall(1, 'completed'))
      expect(await ordersOf(storage)).toEqual([3, undefined, 2, undefined, undefined])

      await commit(storage, changeOf({ runId: RUN_ID, seq: 1, status: 'completed' }, { status: 'started' }))
      await commit(storage, endCall(5, 'failed'))
      expect(await ordersOf(storage)).toEqual([undefined, undefined, 2, undefined, 3])
    },
  },
]

export const stepChangeCases: readonly ContractCase[] = [...fieldCases, ...orderCases, ...restartCases]
