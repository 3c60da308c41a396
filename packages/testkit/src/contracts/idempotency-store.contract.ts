import type { EpochMs, IdempotencyRecord, Storage, StoredResponse, Write } from '@perdure/ports'
import { expect } from 'vitest'
import { anIdempotencyRecord } from '../builders.ts'
import { commit, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { idempotencyExecutorCases } from './idempotency-executor.contract.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'

const EXPIRES = at(1_000)
const BEFORE = at(999)
const RESPONSE: StoredResponse = { status: 200, body: '{"text":"Grüße 🚢"}' }
const RESPONSE_OPTIONALS: Optionals<StoredResponse> = {
  location: '/v1/runs/run_1',
  contentType: 'application/json',
  sealed: true,
}

const executing = (over: Partial<IdempotencyRecord> = {}): IdempotencyRecord =>
  anIdempotencyRecord({ id: 'key-1', runId: 'run_1', expiresAt: EXPIRES, ...over })
const answered = (over: Partial<IdempotencyRecord> = {}): IdempotencyRecord =>
  executing({ response: RESPONSE, ...over })

const reserve = (record: IdempotencyRecord, now: EpochMs = at(0)): Write => ({
  type: 'idempotency.reserve',
  record,
  now,
})
const complete = (runId: string, response = RESPONSE): Write => ({ type: 'idempotency.complete', runId, response })
const prune = (now: EpochMs, limit = 100): Write => ({ type: 'idempotency.prune', now, limit })

const find = (storage: Storage, id = 'key-1', now: EpochMs = at(0)) => storage.idempotency.find(id, now)

const findCases: readonly ContractCase[] = [
  {
    title: 'finds no record for an unknown key',
    async run(storage) {
      await commit(storage, reserve(executing()))

      expect(await find(storage, 'key-unknown')).toBeUndefined()
    },
  },
  {
    title: 'round-trips records with and without a run and a response',
    async run(storage) {
      const records = [
        ...[executing(), executing({ runId: undefined }), answered(), answered({ runId: undefined })],
        ...[executing({ contentOf: 'run_1' }), answered({ runId: undefined, contentOf: 'ses_1' })],
        ...[executing({ executor: 'node-1' }), answered({ patientUntil: at(7) })],
        executing({ executor: 'node-1', patientUntil: EXPIRES }),
      ]
      for (const [index, fields] of records.entries()) {
        const record = { ...fields, id: `key-${index}` }
        await commit(storage, reserve(record))

        expect(await find(storage, record.id)).toEqual(record)
      }
    },
  },
  {
    title: 'round-trips responses with all, one and none of the optional headers',
    async run(storage) {
      const variants = [RESPONSE_OPTIONALS, ...eachAlone(RESPONSE_OPTIONALS), {}]
      for (const [index, fields] of variants.entries()) {
        const record = answered({ id: `key-${index}`, response: { status: 201, body: '{}', ...fields } })
        await commit(storage, reserve(record))

        expect(await find(storage, record.id)).toEqual(record)
      }
    },
  },
  {
    title: 'finds an answered record until expiresAt (exclusive)',
    async run(storage) {
      await commit(storage, reserve(answered()))

      expect(await find(storage, 'key-1', BEFORE)).toEqual(answered())
      expect(await find(storage, 'key-1', EXPIRES)).toBeUndefined()
    },
  },
  {
    title: 'returns the runs of executing and unexpired records only, and only for the given keys',
    async run(storage) {
      await commit(storage, reserve(executing({ id: 'executing', runId: 'run_e', expiresAt: at(1) })))
      await commit(storage, reserve(answered({ id: 'live', runId: 'run_l' })), reserve(answered({ id: 'other' })))
      const withoutRun = reserve(answered({ id: 'without-run', runId: undefined }))
      await commit(storage, reserve(answered({ id: 'expired', runId: 'run_x', expiresAt: at(5) })), withoutRun)
      const ids = ['live', 'live', 'executing', 'expired', 'without-run', 'unknown', 'liv', 'live ']

      expect((await storage.idempotency.runIds(ids, at(5))).toSorted()).toEqual(['run_e', 'run_l'])
      expect(await storage.idempotency.runIds(['expired'], at(4))).toEqual(['run_x'])
    },
  },
  {
    title: 'finds an executing record no matter how long ago it expired',
    async run(storage) {
      await commit(storage, reserve(executing()))

      expect(await find(storage, 'key-1', at(1_000_000_000))).toEqual(executing())
    },
  },
]

const reserveCases: readonly ContractCase[] = [
  {
    title: 'refuses a key with an unexpired answered record and returns that record',
    async run(storage) {
      await commit(storage, reserve(answered()))

      const outcome = await refused(storage, reserve(executing({ fingerprint: 'other', runId: 'run_2' }), BEFORE))

      expect(outcome.conflict).toEqual({ type: 'idempotency.reserve', current: answered() })
      expect(await find(storage)).toEqual(answered())
    },
  },
  {
    title: 'refuses a key that is still executing, no matter how long ago it expired',
    async run(storage) {
      await commit(storage, reserve(executing()))

      for (const now of [at(0), EXPIRES, at(1_000_000_000)]) {
        const outcome = await refused(storage, reserve(answered({ runId: 'run_2' }), now))
        expect(outcome.conflict).toEqual({ type: 'idempotency.reserve', current: executing() })
      }
    },
  },
  {
    title: 'replaces an answered record exactly from expiresAt',
    async run(storage) {
      await commit(storage, reserve(answered()))
      const next = executing({ fingerprint: 'other', runId: 'run_2', createdAt: EXPIRES, expiresAt: at(2_000) })

      const { counts } = await commit(storage, reserve(next, EXPIRES))

      expect(counts).toEqual([1])
      expect(await find(storage, 'key-1', EXPIRES)).toEqual(next)
    },
  },
  {
    title: 'reserves the two keys of one commit, or neither when one of them is taken',
    async run(storage) {
      const taken = executing({ id: 'key-2' })
      await commit(storage, reserve(taken))
      const both = (id: string) => [reserve(executing({ id, runId: 'run_2' })), reserve(executing({ id: 'key-2' }))]

      expect(await storage.unitOfWork.commit(both('key-1'))).toEqual({
        ...{ committed: false, index: 1 },
        conflict: { type: 'idempotency.reserve', current: taken },
      })
      expect([await find(storage, 'key-1'), await find(storage, 'key-2')]).toEqual([undefined, taken])
      const free = [reserve(executing({ id: 'key-1' })), reserve(executing({ id: 'key-3' }))]
      expect(await storage.unitOfWork.commit(free)).toMatchObject({ committed: true, counts: [1, 1] })
    },
  },
  {
    title: 'reserves two keys with the same fingerprint separately',
    async run(storage) {
      await commit(storage, reserve(executing()), reserve(executing({ id: 'key-2', runId: 'run_2' })))

      expect(await find(storage, 'key-2')).toEqual(executing({ id: 'key-2', runId: 'run_2' }))
    },
  },
]

const completeCases: readonly ContractCase[] = [
  {
    title: 'stores the response in the record that waits for the run and changes nothing else',
    async run(storage) {
      await commit(storage, reserve(executing()), reserve(executing({ id: 'key-2', runId: 'run_2' })))
      const response = { status: 204, body: '', ...RESPONSE_OPTIONALS }

      const { counts } = await commit(storage, complete('run_1', response))

      expect(counts).toEqual([1])
      expect(await find(storage)).toEqual(executing({ response }))
      expect(await find(storage, 'key-2')).toEqual(executing({ id: 'key-2', runId: 'run_2' }))
    },
  },
  {
    title: 'expires a record that was answered after its expiresAt',
    async run(storage) {
      await commit(storage, reserve(executing()))
      await commit(storage, complete('run_1'))

      expect(await find(storage, 'key-1', BEFORE)).toEqual(answered())
      expect(await find(storage, 'key-1', EXPIRES)).toBeUndefined()
    },
  },
  {
    title: 'stores the response in every record that waits for the run, whatever its content',
    async run(storage) {
      const contents = [undefined, 'run_1', 'ses_1']
      const records = contents.map((contentOf, index) => executing({ id: `key-${index}`, contentOf }))
      const ofOthers = executing({ id: 'of-others', runId: 'run_2', contentOf: 'run_1' })
      await commit(storage, ...[...records, ofOthers].map((record) => reserve(record)))

      expect((await commit(storage, complete('run_1'))).counts).toEqual([records.length])
      for (const record of records) expect(await find(storage, record.id)).toEqual({ ...record, response: RESPONSE })
      expect(await find(storage, 'of-others')).toEqual(ofOthers)
    },
  },
  {
    title: 'keeps the first response and ignores a second one',
    async run(storage) {
      await commit(storage, reserve(executing()))
      await commit(storage, complete('run_1'))

      const { counts } = await commit(storage, complete('run_1', { status: 500, body: 'late' }))

      expect(counts).toEqual([0])
      expect(await find(storage)).toEqual(answered())
    },
  },
  {
    title: 'ignores the response of a run that no record waits for',
    async run(storage) {
      await commit(storage, reserve(executing({ runId: undefined })))

      expect((await commit(storage, complete('run-unknown'))).counts).toEqual([0])
      expect(await find(storage)).toEqual(executing({ runId: undefined }))
    },
  },
  {
    title: 'stores the response in a second record of a run when another one is already answered',
    async run(storage) {
      const second = executing({ id: 'key-2' })
      await commit(storage, reserve(executing()))
      await commit(storage, complete('run_1'))
      await commit(storage, reserve(second))

      const response = { status: 200, body: 'resumed' }
      expect((await commit(storage, complete('run_1', response))).counts).toEqual([1])
      expect([await find(storage), await find(storage, 'key-2')]).toEqual([answered(), { ...second, response }])
    },
  },
]

const pruneCases: readonly ContractCase[] = [
  {
    title: 'prunes answered records exactly from expiresAt and never prunes executing records',
    async run(storage) {
      await commit(
        storage,
        reserve(answered({ id: 'expired' })),
        reserve(answered({ id: 'living', expiresAt: at(1_001) })),
        reserve(executing({ id: 'executing', runId: 'run_2' })),
      )

      expect((await commit(storage, prune(BEFORE))).counts).toEqual([0])
      expect((await commit(storage, prune(EXPIRES))).counts).toEqual([1])
      const found = await Promise.all(['expired', 'living', 'executing'].map((id) => find(storage, id)))
      expect(found.map((record) => record?.id)).toEqual([undefined, 'living', 'executing'])
    },
  },
  {
    title: 'prunes up to the limit at once and the rest later',
    async run(storage) {
      const ids = ['a', 'b', 'c', 'd', 'e']
      await commit(storage, ...ids.map((id) => reserve(answered({ id }))))
      const countLeft = async () => (await Promise.all(ids.map((id) => find(storage, id)))).filter(Boolean).length

      const rounds: (readonly [number | undefined, number])[] = []
      for (let round = 0; round < 4; round++) {
        rounds.push([(await commit(storage, prune(EXPIRES, 2))).counts[0], await countLeft()])
      }

      expect(rounds).toEqual([
        [2, 3],
        [2, 1],
        [1, 0],
        [0, 0],
      ])
    },
  },
  {
    title: 'allows a pruned key to be reserved again',
    async run(storage) {
      await commit(storage, reserve(answered()))
      await commit(storage, prune(EXPIRES))
      await commit(storage, reserve(executing({ runId: 'run_2' }), at(0)))

      expect(await find(storage)).toEqual(executing({ runId: 'run_2' }))
    },
  },
]

export const idempotencyStoreCases: readonly ContractCase[] = [
  ...findCases,
  ...reserveCases,
  ...completeCases,
  ...idempotencyExecutorCases,
  ...pruneCases,
]

/** Requirements for every `IdempotencyStore` and for writes of idempotency records. */
export const idempotencyStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'IdempotencyStore', cases: idempotencyStoreCases }], harness)
