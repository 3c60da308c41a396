import type { DeliveryRecord, DeliveryStatus, Storage, Write } from '@perdure/ports'
import { expect } from 'vitest'
import { aDelivery, aWebhook } from '../webhook-builders.ts'
import { commit, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const OPTIONALS: Optionals<DeliveryRecord> = {
  lease: 'lease',
  responseStatus: 503,
  error: 'the host "ü" did not answer',
  endedAt: at(4),
}
const STATUSES: readonly DeliveryStatus[] = ['pending', 'delivered', 'dead']
const EVERY = { limit: 200, order: 'asc' } as const
const ID = aDelivery().id

const insertions = (deliveries: readonly DeliveryRecord[]): readonly Write[] =>
  deliveries.map((delivery) => ({ type: 'delivery.insert', delivery }))

const open = (storage: Storage, ...deliveries: readonly DeliveryRecord[]) =>
  commit(storage, { type: 'webhook.insert', webhook: aWebhook() }, ...insertions(deliveries))

/** Claims the delivery at its due time for 100 ms. */
const claim = (over: Partial<Extract<Write, { type: 'delivery.claim' }>> = {}) =>
  ({ type: 'delivery.claim', id: ID, lease: 'lease', now: at(0), until: at(100), ...over }) as const
const change = (over: Partial<Extract<Write, { type: 'delivery.change' }>['change']> = {}, lease = 'lease') =>
  ({
    type: 'delivery.change',
    id: ID,
    lease,
    change: { status: 'delivered', attempts: 1, dueAt: at(50), responseStatus: 200, endedAt: at(50), ...over },
  }) as const
const find = (storage: Storage) => storage.deliveries.find(ID)
const idsOf = (deliveries: readonly DeliveryRecord[]) => deliveries.map(({ id }) => id)

const insertCases: readonly ContractCase[] = [
  {
    title: 'round-trips a delivery with all, one and none of the optional fields, and every status',
    async run(storage) {
      const varied = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aDelivery({ id: `d-${index}`, position: index + 1, attempts: 3, earlierAttempts: 2, ...fields }),
      )
      const statuses = STATUSES.map((status, index) => aDelivery({ id: status, status, position: 100 + index }))
      await open(storage, ...varied, ...statuses)

      for (const delivery of [...varied, ...statuses])
        expect(await storage.deliveries.find(delivery.id)).toEqual(delivery)
      expect(await storage.deliveries.find('unknown')).toBeUndefined()
    },
  },
  {
    title: 'refuses a second delivery of a position, except position 0, and returns the first',
    async run(storage) {
      const first = aDelivery({ position: 7, status: 'delivered' })
      await open(storage, first, aDelivery({ id: 'test-1' }), aDelivery({ id: 'test-2' }))

      const again = aDelivery({ id: 'again', position: 7 })
      expect((await refused(storage, { type: 'delivery.insert', delivery: again })).conflict).toEqual({
        type: 'delivery.insert',
        current: first,
      })
      await commit(storage, { type: 'webhook.insert', webhook: aWebhook({ id: 'other' }) })
      await commit(storage, ...insertions([{ ...again, webhookId: 'other' }]))
    },
  },
  {
    title: 'refuses a delivery with a taken id and a delivery of an unknown webhook',
    async run(storage) {
      await open(storage, aDelivery())

      const taken = await refused(storage, { type: 'delivery.insert', delivery: aDelivery({ position: 9 }) })
      expect(taken.conflict).toEqual({ type: 'delivery.insert', current: aDelivery() })
      const unknown = aDelivery({ id: 'x', webhookId: 'x' })
      expect((await refused(storage, { type: 'delivery.insert', delivery: unknown })).conflict).toEqual({
        type: 'delivery.insert',
      })
    },
  },
  {
    title: 'lets exactly one of many concurrent callers insert the delivery of a position',
    async run(storage) {
      await open(storage)

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          storage.unitOfWork.commit(insertions([aDelivery({ id: `d-${index}`, position: 5 })])),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
]

const leaseCases: readonly ContractCase[] = [
  {
    title: 'lets exactly one of many callers claim a delivery and none before it is due',
    async run(storage) {
      await open(storage, aDelivery({ dueAt: at(1) }))
      expect((await refused(storage, claim())).conflict).toMatchObject({ type: 'delivery.claim', current: { id: ID } })

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          storage.unitOfWork.commit([claim({ lease: `lease-${index}`, now: at(1) })]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      expect(await find(storage)).toMatchObject({ attempts: 0, dueAt: at(100), lease: expect.any(String) })
      expect((await refused(storage, claim({ id: 'unknown' }))).conflict).toEqual({ type: 'delivery.claim' })
    },
  },
  {
    title: 'lets another sender claim a delivery after its lease expires and rejects the result of the first sender',
    async run(storage) {
      await open(storage, aDelivery())
      await commit(storage, claim())
      await refused(storage, claim({ lease: 'early', now: at(99) }))
      await commit(storage, claim({ lease: 'next', now: at(100), until: at(200) }))

      expect((await refused(storage, change())).conflict).toMatchObject({
        type: 'delivery.change',
        current: { lease: 'next' },
      })
      await commit(storage, change({}, 'next'))
      expect((await refused(storage, change({}, 'next'))).conflict).toMatchObject({ current: { status: 'delivered' } })
      expect((await refused(storage, { ...change(), id: 'unknown' })).conflict).toEqual({ type: 'delivery.change' })
    },
  },
  {
    title: 'stores the outcome of an attempt and removes what the outcome omits',
    async run(storage) {
      await open(storage, aDelivery({ error: 'earlier', earlierAttempts: 1 }))
      await commit(storage, claim(), change())
      expect(await find(storage)).toEqual(
        aDelivery({
          status: 'delivered',
          attempts: 1,
          earlierAttempts: 1,
          dueAt: at(50),
          responseStatus: 200,
          endedAt: at(50),
        }),
      )
    },
  },
  {
    title: 'never claims a delivery that has ended',
    async run(storage) {
      await open(
        storage,
        ...STATUSES.slice(1).map((status, index) => aDelivery({ id: status, status, position: index + 1 })),
      )

      for (const status of STATUSES.slice(1)) await refused(storage, claim({ id: status, now: at(9_999) }))
    },
  },
  {
    title: 'releases every lease and leaves other deliveries unchanged',
    async run(storage) {
      const waiting = aDelivery({ id: 'waiting', position: 1, attempts: 1, dueAt: at(70) })
      await open(storage, aDelivery(), waiting)
      await commit(storage, claim())

      expect((await commit(storage, { type: 'delivery.release', now: at(3) })).counts).toEqual([1])

      expect(await find(storage)).toEqual(aDelivery({ dueAt: at(3) }))
      expect(await storage.deliveries.find('waiting')).toEqual(waiting)
      await refused(storage, change())
    },
  },
  {
    title: 'makes an ended or a waiting delivery due again and counts its attempts as earlier ones',
    async run(storage) {
      const dead = aDelivery({ id: 'dead', position: 1, status: 'dead', attempts: 10, error: 'gone', endedAt: at(4) })
      const waiting = aDelivery({ id: 'waiting', position: 2, attempts: 2, dueAt: at(900) })
      await open(storage, dead, waiting)

      for (const id of ['dead', 'waiting']) await commit(storage, { type: 'delivery.redeliver', id, now: at(8) })

      const due = { status: 'pending', dueAt: at(8), endedAt: undefined } as const
      expect(await storage.deliveries.find('dead')).toEqual({ ...dead, ...due, earlierAttempts: 10 })
      expect(await storage.deliveries.find('waiting')).toEqual({ ...waiting, ...due, earlierAttempts: 2 })
    },
  },
  {
    title: 'refuses to redeliver a claimed or an unknown delivery',
    async run(storage) {
      await open(storage, aDelivery())
      await commit(storage, claim())

      const redeliver = { type: 'delivery.redeliver', id: ID, now: at(8) } as const
      expect((await refused(storage, redeliver)).conflict).toMatchObject({ current: { lease: 'lease' } })
      expect((await refused(storage, { ...redeliver, id: 'x' })).conflict).toEqual({ type: 'delivery.redeliver' })
    },
  },
]

const readCases: readonly ContractCase[] = [
  {
    title: 'lists the deliveries that were never attempted by position, also while they are claimed',
    async run(storage) {
      await open(
        storage,
        aDelivery({ id: 'c', position: 3 }),
        aDelivery({ id: 'b', position: 2, dueAt: at(500) }),
        aDelivery({ id: 'a', position: 1, attempts: 1 }),
        aDelivery({ id: 'd', position: 4, status: 'dead' }),
      )
      await commit(storage, claim({ id: 'c' }))

      expect(idsOf(await storage.deliveries.unattempted('hook', 9))).toEqual(['b', 'c'])
      expect(idsOf(await storage.deliveries.unattempted('hook', 1))).toEqual(['b'])
      expect(await storage.deliveries.unattempted('other', 9)).toEqual([])
    },
  },
  {
    title: 'lists the retries that are due, earliest first, and not those that are claimed',
    async run(storage) {
      const retry = (id: string, dueAt: number) => aDelivery({ id, position: dueAt + 1, attempts: 1, dueAt: at(dueAt) })
      await open(storage, retry('c', 3), retry('b', 2), retry('a', 1), retry('later', 4), aDelivery({ id: 'first' }))

      expect(idsOf(await storage.deliveries.retries('hook', at(3), 9))).toEqual(['a', 'b', 'c'])
      expect(idsOf(await storage.deliveries.retries('hook', at(3), 2))).toEqual(['a', 'b'])
      await commit(storage, claim({ id: 'a', now: at(1) }))
      expect(idsOf(await storage.deliveries.retries('hook', at(3), 9))).toEqual(['b', 'c'])
      expect(await storage.deliveries.retries('other', at(3), 9)).toEqual([])
    },
  },
  {
    title: 'counts the pending and the dead deliveries of all webhooks',
    async run(storage) {
      expect(await storage.deliveries.counts()).toEqual({ pending: 0, dead: 0 })
      await open(storage, ...STATUSES.map((status, index) => aDelivery({ id: status, status, position: index + 1 })))
      await commit(storage, { type: 'webhook.insert', webhook: aWebhook({ id: 'other' }) })
      await commit(storage, ...insertions([aDelivery({ id: 'd', webhookId: 'other' })]))

      expect(await storage.deliveries.counts()).toEqual({ pending: 2, dead: 1 })
    },
  },
  {
    title: 'lists the deliveries of one status',
    async run(storage) {
      await open(storage, ...STATUSES.map((status, index) => aDelivery({ id: status, status, position: index + 1 })))

      for (const status of STATUSES) {
        expect(idsOf((await storage.deliveries.list({ webhookId: 'hook', status }, EVERY)).items)).toEqual([status])
      }
    },
  },
  {
    title: 'prunes deliveries created before an instant (exclusive), up to the limit, except pending ones',
    async run(storage) {
      const ended = Array.from({ length: 3 }, (_, index) =>
        aDelivery({ id: `old-${index}`, position: index + 1, status: STATUSES[1 + (index % 2)] as DeliveryStatus }),
      )
      const later = aDelivery({ id: 'later', position: 50, status: 'dead', createdAt: at(1) })
      await open(storage, ...ended, later, aDelivery({ position: 60 }))

      const { counts } = await commit(
        storage,
        { type: 'delivery.prune', before: at(1), limit: 2 },
        { type: 'delivery.prune', before: at(1), limit: 2 },
      )

      expect(counts).toEqual([2, 1])
      expect(idsOf((await storage.deliveries.list({ webhookId: 'hook' }, EVERY)).items)).toEqual([ID, 'later'])
    },
  },
]

export const deliveryStoreCases: readonly ContractCase[] = [
  ...insertCases,
  ...leaseCases,
  ...readCases,
  ...pagedListCases({
    noun: 'deliveries',
    prepare: (storage) => open(storage),
    insert: (storage, { id, createdAt, text }) =>
      commit(storage, ...insertions([aDelivery({ id, createdAt, position: createdAt, error: text })])),
    list: (storage, page) => storage.deliveries.list({ webhookId: 'hook' }, page),
  }),
]

/** Requirements for every `DeliveryStore` and for writes of deliveries. */
export const deliveryStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'DeliveryStore', cases: deliveryStoreCases }], harness)
