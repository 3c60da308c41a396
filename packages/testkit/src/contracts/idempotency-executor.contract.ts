import type { EpochMs, IdempotencyRecord, Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { anIdempotencyRecord, aRun } from '../builders.ts'
import { commit } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const RESPONSE = { status: 200, body: '{}' }

const executing = (over: Partial<IdempotencyRecord> = {}): IdempotencyRecord =>
  anIdempotencyRecord({ id: 'key-1', runId: 'run_1', ...over })

const reserve = (record: IdempotencyRecord) => ({ type: 'idempotency.reserve', record, now: at(0) }) as const

const complete = (unlessPatientAt?: EpochMs) =>
  ({ type: 'idempotency.complete', runId: 'run_1', response: RESPONSE, unlessPatientAt }) as const

const find = (storage: Storage, id = 'key-1') => storage.idempotency.find(id, at(0))

const interruptCases: readonly ContractCase[] = [
  {
    title: 'stores the interrupt response only in executing records that have no run',
    async run(storage) {
      const response = { status: 502, body: '{"error":"gone"}' }
      const ofCall = executing({ id: 'of-call', runId: 'call_1' })
      const ofNothing = executing({ id: 'of-nothing', runId: undefined })
      const done = executing({ id: 'done', runId: 'call_2', response: RESPONSE })
      await commit(storage, { type: 'run.insert', run: aRun({ id: 'run_1' }) })
      for (const record of [executing(), ofCall, ofNothing, done]) await commit(storage, reserve(record))

      const { counts } = await commit(storage, { type: 'idempotency.interrupt', response })

      expect(counts).toEqual([2])
      expect(await find(storage, 'of-call')).toEqual({ ...ofCall, response })
      expect(await find(storage, 'of-nothing')).toEqual({ ...ofNothing, response })
      expect(await find(storage)).toEqual(executing())
      expect(await find(storage, 'done')).toEqual(done)
      expect((await commit(storage, { ...complete(), runId: 'call_1' })).counts).toEqual([0])
    },
  },
  {
    title: 'stores the interrupt response only in records of the executor that it names',
    async run(storage) {
      const response = { status: 502, body: 'gone' }
      const records = [
        executing({ id: 'mine', runId: 'call_1', executor: 'node-1' }),
        executing({ id: 'mine without a run', runId: undefined, executor: 'node-1' }),
        executing({ id: 'of another', runId: 'call_2', executor: 'node-2' }),
        executing({ id: 'of nobody', runId: 'call_3' }),
        executing({ id: 'of my run', runId: 'run_1', executor: 'node-1' }),
      ]
      await commit(storage, { type: 'run.insert', run: aRun({ id: 'run_1' }) })
      for (const record of records) await commit(storage, reserve(record))

      const interrupt = { type: 'idempotency.interrupt', response, executor: 'node-1' } as const
      expect((await commit(storage, interrupt)).counts).toEqual([2])
      for (const [index, record] of records.entries()) {
        expect(await find(storage, record.id)).toEqual(index < 2 ? { ...record, response } : record)
      }
      expect((await commit(storage, { ...interrupt, executor: { nobody: true } })).counts).toEqual([1])
      expect(await find(storage, 'of nobody')).toMatchObject({ response })
      expect((await find(storage, 'of another'))?.response).toBeUndefined()
      expect((await commit(storage, { ...interrupt, executor: undefined })).counts).toEqual([1])
    },
  },
]

const patienceCases: readonly ContractCase[] = [
  {
    title: 'leaves out a record whose waiter is patient, exactly until patientUntil',
    async run(storage) {
      const record = executing({ patientUntil: at(50) })
      await commit(storage, reserve(record))

      for (const now of [at(0), at(49)]) {
        expect((await commit(storage, complete(now))).counts).toEqual([0])
        expect(await find(storage)).toEqual(record)
      }
      expect((await commit(storage, complete(at(50)))).counts).toEqual([1])
      expect(await find(storage)).toEqual({ ...record, response: RESPONSE })
    },
  },
  {
    title: 'answers a record with a patient waiter when the response does not depend on patience',
    async run(storage) {
      const record = executing({ patientUntil: at(50) })
      await commit(storage, reserve(record))

      expect((await commit(storage, complete(at(0)))).counts).toEqual([0])
      expect((await commit(storage, complete())).counts).toEqual([1])
      expect(await find(storage)).toEqual({ ...record, response: RESPONSE })
    },
  },
  {
    title: 'answers the records of a run without a patient waiter, and the other ones later',
    async run(storage) {
      const patient = executing({ id: 'patient', patientUntil: at(50), contentOf: 'run_1' })
      const records = [executing({ id: 'never patient' }), executing({ id: 'no longer', patientUntil: at(9) })]
      await commit(storage, ...[patient, ...records].map(reserve))

      expect((await commit(storage, complete(at(9)))).counts).toEqual([2])
      for (const record of records) expect(await find(storage, record.id)).toEqual({ ...record, response: RESPONSE })
      expect(await find(storage, 'patient')).toEqual(patient)
      expect((await commit(storage, complete(at(9)), complete())).counts).toEqual([0, 1])
    },
  },
]

export const idempotencyExecutorCases: readonly ContractCase[] = [...interruptCases, ...patienceCases]
