import {
  type HookDeliveryRecord,
  type HookDeliveryStatus,
  type HookOutcome,
  type Storage,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { expect } from 'vitest'
import { aHookDelivery, aHookOutcome } from '../hook-builders.ts'
import { commit, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'
import { pagedListCases } from './paged-list.contract.ts'

const OPTIONALS: Optionals<HookDeliveryRecord> = { reason: 'input threw: "ü"\n', event: 'order.paid' }
const STATUSES: readonly HookDeliveryStatus[] = ['accepted', 'ignored', 'dead']
const EVERY = { limit: 200, order: 'asc' } as const
const FIRST = aHookDelivery()

const insert = (storage: Storage, ...deliveries: readonly HookDeliveryRecord[]) =>
  commit(storage, ...deliveries.map((delivery): Write => ({ type: 'hook-delivery.insert', delivery })))
const replay = (replays: number, outcome: HookOutcome): Write => ({
  ...{ type: 'hook-delivery.replay', id: FIRST.id },
  ...{ replays, outcome },
})
const idsOf = (deliveries: readonly HookDeliveryRecord[]) => deliveries.map(({ id }) => id)

const writeCases: readonly ContractCase[] = [
  {
    title: 'round-trips a delivery with all, one and none of the optional fields, every status and unusual text',
    async run(storage) {
      const varied = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aHookDelivery({ id: `d-${index}`, deliveryId: `e-${index}`, replays: index, fireIds: [], ...fields }),
      )
      const statuses = STATUSES.map((status) => aHookDelivery({ id: status, deliveryId: status, status }))
      const unusual = aHookDelivery({
        id: 'u',
        deliveryId: 'Grüße 🚢',
        body: toJsonText('a\u0000b\ud800'),
        fireIds: ['a', 'b'],
      })
      await insert(storage, ...varied, ...statuses, unusual)

      for (const delivery of [...varied, ...statuses, unusual])
        expect(await storage.hookDeliveries.find(delivery.id)).toEqual(delivery)
      expect(await storage.hookDeliveries.find('unknown')).toBeUndefined()
    },
  },
  {
    title: 'refuses a second delivery of a hook with the same id of the sender, and returns the first',
    async run(storage) {
      await insert(storage, FIRST)

      const again = aHookDelivery({ id: 'again', status: 'dead' })
      expect((await refused(storage, { type: 'hook-delivery.insert', delivery: again })).conflict).toEqual({
        type: 'hook-delivery.insert',
        current: FIRST,
      })
      await insert(storage, { ...again, hookId: 'other' }, { ...again, id: 'later', deliveryId: 'evt_2' })
      expect(await storage.hookDeliveries.findReceived('shop', 'evt_1')).toEqual(FIRST)
      expect(await storage.hookDeliveries.findReceived('other', 'evt_1')).toMatchObject({ id: 'again' })
      expect(await storage.hookDeliveries.findReceived('other', 'evt_2')).toBeUndefined()
    },
  },
  {
    title: 'stores a delivery once when several callers insert it at the same time',
    async run(storage) {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          storage.unitOfWork.commit([{ type: 'hook-delivery.insert', delivery: aHookDelivery({ id: `d-${index}` }) }]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
    },
  },
  {
    title: 'refuses a delivery with a taken id',
    async run(storage) {
      await insert(storage, FIRST)

      const taken = aHookDelivery({ deliveryId: 'evt_2' })
      expect((await refused(storage, { type: 'hook-delivery.insert', delivery: taken })).conflict).toEqual({
        type: 'hook-delivery.insert',
        current: FIRST,
      })
    },
  },
  {
    title: 'replaces the outcome of a delivery once for each number of replays',
    async run(storage) {
      await insert(storage, { ...FIRST, ...OPTIONALS, status: 'dead' })
      const outcome = aHookOutcome({ fireIds: ['fire_2', 'fire_3'], handledAt: at(5) })

      await commit(storage, replay(0, outcome))
      const replayed = { ...FIRST, ...outcome, replays: 1 }
      expect(await storage.hookDeliveries.find(FIRST.id)).toEqual(replayed)
      expect((await refused(storage, replay(0, aHookOutcome()))).conflict).toEqual({
        type: 'hook-delivery.replay',
        current: replayed,
      })
      await commit(storage, replay(1, aHookOutcome({ status: 'ignored', event: 'e', reason: 'r', fireIds: [] })))
      expect(await storage.hookDeliveries.find(FIRST.id)).toMatchObject({ event: 'e', reason: 'r', replays: 2 })
    },
  },
  {
    title: 'refuses to replay an unknown delivery',
    async run(storage) {
      expect((await refused(storage, replay(0, aHookOutcome()))).conflict).toEqual({ type: 'hook-delivery.replay' })
    },
  },
  {
    title: 'prunes deliveries created before an instant (exclusive), up to the limit',
    async run(storage) {
      const old = Array.from({ length: 3 }, (_, n) =>
        aHookDelivery({ id: `old-${n}`, deliveryId: `e-${n}`, status: STATUSES[n] as HookDeliveryStatus }),
      )
      await insert(storage, ...old, aHookDelivery({ id: 'later', deliveryId: 'later', createdAt: at(1) }))

      const { counts } = await commit(
        storage,
        { type: 'hook-delivery.prune', before: at(1), limit: 2 },
        { type: 'hook-delivery.prune', before: at(1), limit: 2 },
      )

      expect(counts).toEqual([2, 1])
      expect(idsOf((await storage.hookDeliveries.list({ hookId: 'shop' }, EVERY)).items)).toEqual(['later'])
    },
  },
]

const readCases: readonly ContractCase[] = [
  {
    title: 'lists the deliveries of one hook and of one status',
    async run(storage) {
      const deliveries = STATUSES.map((status) => aHookDelivery({ id: status, deliveryId: status, status }))
      await insert(storage, ...deliveries, aHookDelivery({ id: 'x', hookId: 'other' }))

      expect(idsOf((await storage.hookDeliveries.list({ hookId: 'shop' }, EVERY)).items).toSorted()).toEqual(
        [...STATUSES].toSorted(),
      )
      for (const status of STATUSES) {
        expect(idsOf((await storage.hookDeliveries.list({ hookId: 'shop', status }, EVERY)).items)).toEqual([status])
      }
    },
  },
]

export const hookDeliveryStoreCases: readonly ContractCase[] = [
  ...writeCases,
  ...readCases,
  ...pagedListCases({
    noun: 'deliveries of a hook',
    insert: (storage, { id, createdAt, text }) =>
      insert(storage, aHookDelivery({ id, createdAt, deliveryId: id, body: toJsonText(text) })),
    list: (storage, page) => storage.hookDeliveries.list({ hookId: 'shop' }, page),
  }),
]

/** Requirements for every `HookDeliveryStore` and for writes of deliveries that hooks receive. */
export const hookDeliveryStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'HookDeliveryStore', cases: hookDeliveryStoreCases }], harness)
