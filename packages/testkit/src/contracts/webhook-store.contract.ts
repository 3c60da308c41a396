import type { Storage, WebhookRecord } from '@perdure/ports'
import { expect } from 'vitest'
import { aDelivery, aWebhook } from '../webhook-builders.ts'
import { commit, fillOneByOne, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { at, eachAlone, type Optionals } from './optional-fields.ts'

const OPTIONALS: Optionals<WebhookRecord> = {
  targets: ['echo', 'mail'],
  owner: 'bob',
  disabledAt: at(5),
  disabledReason: 'answered 410 "Gone"',
  undeclaredAt: at(6),
  superseded: ['a1', 'b2'],
  createdByToken: 'tok_1',
}

const insert = (storage: Storage, ...webhooks: readonly WebhookRecord[]) =>
  commit(storage, ...webhooks.map((webhook) => ({ type: 'webhook.insert', webhook }) as const))

export const webhookStoreCases: readonly ContractCase[] = [
  {
    title: 'round-trips a webhook with all, one and none of the optional fields',
    async run(storage) {
      const webhooks = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        aWebhook({ id: `hook-${index}`, ...fields }),
      )
      const rotated = aWebhook({ id: 'rotated', secrets: [{ ref: 'env:NEW' }, { sealed: 'old', expiresAt: at(9) }] })
      await insert(storage, ...webhooks, rotated)

      for (const webhook of [...webhooks, rotated]) expect(await storage.webhooks.find(webhook.id)).toEqual(webhook)
      expect(await storage.webhooks.find('unknown')).toBeUndefined()
    },
  },
  {
    title: 'lists all webhooks by id in code-unit order, regardless of the order in which they were added',
    async run(storage) {
      expect(await storage.webhooks.list()).toEqual([])
      await insert(storage, ...['b', 'a_1', 'B', '9', 'a-1'].map((id) => aWebhook({ id })))

      expect((await storage.webhooks.list()).map(({ id }) => id)).toEqual(['9', 'B', 'a-1', 'a_1', 'b'])
    },
  },
  {
    title: 'refuses a webhook with a taken id and returns the existing webhook',
    async run(storage) {
      await insert(storage, aWebhook())

      const webhook = aWebhook({ url: 'https://other.example/' })
      const outcome = await refused(storage, { type: 'webhook.insert', webhook })

      expect(outcome.conflict).toEqual({ type: 'webhook.insert', current: aWebhook() })
    },
  },
  {
    title: 'refuses a webhook above the limit of its creator or of all creators, even among concurrent inserts',
    async run(storage) {
      await insert(storage, aWebhook({ id: 'declared', source: 'code' }), aWebhook({ id: 'of bob', createdBy: 'bob' }))
      const limits = { total: 6, ofCreator: 3 }
      const insertAll = (ids: string, createdBy: string) =>
        Promise.all(
          [...ids].map((id) =>
            storage.unitOfWork.commit([{ type: 'webhook.insert', webhook: aWebhook({ id, createdBy }), limits }]),
          ),
        )

      const ofCreator = await insertAll('abcdefgh', 'alice')
      const total = await insertAll('ijkl', 'carol')

      const refusalsOf = (outcomes: typeof total) => outcomes.filter(({ committed }) => !committed)
      expect(refusalsOf(ofCreator)).toHaveLength(5)
      for (const refusal of refusalsOf(ofCreator)) {
        expect(refusal).toMatchObject({ conflict: { type: 'webhook.insert', reached: 'ofCreator' } })
      }
      expect(refusalsOf(total)).toHaveLength(3)
      for (const refusal of refusalsOf(total)) {
        expect(refusal).toMatchObject({ conflict: { type: 'webhook.insert', reached: 'total' } })
      }
      expect(await storage.webhooks.list()).toHaveLength(6)
      const taken = { type: 'webhook.insert', webhook: aWebhook({ id: 'of bob' }), limits } as const
      expect((await refused(storage, taken)).conflict).toMatchObject({ current: { createdBy: 'bob' } })
      await insert(storage, aWebhook({ id: 'unlimited' }))
      const other = aWebhook({ id: 'x', createdBy: 'bob' })
      await commit(storage, { type: 'webhook.insert', webhook: other, limits: { ofCreator: 2 } })
    },
  },
  ...(['total', 'ofCreator'] as const).map((limit) => ({
    title: `lets exactly one of many concurrent callers insert the last webhook below the limit \`${limit}\`, each time`,
    run: (storage: Storage) =>
      fillOneByOne((id, max) =>
        storage.unitOfWork.commit([{ type: 'webhook.insert', webhook: aWebhook({ id }), limits: { [limit]: max } }]),
      ),
  })),
  {
    title: 'replaces a webhook whose version is the one before and keeps its creation time',
    async run(storage) {
      await insert(storage, aWebhook(OPTIONALS), aWebhook({ id: 'other' }))

      await commit(storage, {
        type: 'webhook.replace',
        webhook: aWebhook({ position: 7, version: 2, createdAt: at(99) }),
      })

      expect(await storage.webhooks.find('hook')).toEqual(aWebhook({ position: 7, version: 2 }))
      expect(await storage.webhooks.find('other')).toEqual(aWebhook({ id: 'other' }))
      const late = { type: 'webhook.replace', webhook: aWebhook({ position: 3, version: 2 }) } as const
      expect((await refused(storage, late)).conflict).toMatchObject({ current: { position: 7, version: 2 } })
    },
  },
  {
    title: 'lets exactly one of many concurrent callers replace a webhook',
    async run(storage) {
      await insert(storage, aWebhook())

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, position) =>
          storage.unitOfWork.commit([{ type: 'webhook.replace', webhook: aWebhook({ position, version: 2 }) }]),
        ),
      )

      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1)
      const unknown = aWebhook({ id: 'unknown', version: 2 })
      expect((await refused(storage, { type: 'webhook.replace', webhook: unknown })).conflict).toEqual({
        type: 'webhook.replace',
      })
    },
  },
  {
    title: 'deletes a webhook with its deliveries and allows its id to be used again',
    async run(storage) {
      await insert(storage, aWebhook(), aWebhook({ id: 'kept' }))
      const kept = aDelivery({ id: 'kept', webhookId: 'kept' })
      for (const delivery of [aDelivery(), kept]) await commit(storage, { type: 'delivery.insert', delivery })

      const { counts } = await commit(
        storage,
        { type: 'webhook.delete', id: 'hook' },
        { type: 'webhook.delete', id: 'unknown' },
      )

      expect(counts).toEqual([1, 0])
      expect((await storage.webhooks.list()).map(({ id }) => id)).toEqual(['kept'])
      expect(await storage.deliveries.find(aDelivery().id)).toBeUndefined()
      expect(await storage.deliveries.find('kept')).toEqual(kept)
      await insert(storage, aWebhook({ createdBy: 'bob' }))
    },
  },
]

/** Requirements for every `WebhookStore` and its writes. */
export const webhookStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'WebhookStore', cases: webhookStoreCases }], harness)
