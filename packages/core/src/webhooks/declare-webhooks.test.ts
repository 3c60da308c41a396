import type { Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { type ConfiguredWebhook, declareWebhooks } from './declare-webhooks.ts'
import { BY_ALICE, createWebhookWorld, URL } from './webhooks.fixture.ts'

const OPS: ConfiguredWebhook = { id: 'ops', url: URL, events: ['run.completed'], secrets: [{ ref: 'env:HOOK' }] }

/** A storage, and the writes with which the webhooks of a configuration are declared in it. */
function setUp() {
  const world = createWebhookWorld()
  const { storage, clock } = world
  const declare = async (configured: readonly ConfiguredWebhook[], isStorageShared = true) => {
    const types: Write['type'][] = []
    const unitOfWork: typeof storage.unitOfWork = {
      commit(writes) {
        types.push(...writes.map(({ type }) => type))
        return storage.unitOfWork.commit(writes)
      },
    }
    await declareWebhooks({ ...storage, unitOfWork, clock, isStorageShared }, configured)
    return types
  }
  return { ...world, declare, stored: () => storage.webhooks.list() }
}

describe('declareWebhooks', () => {
  it('stores a new webhook, which receives the events from now on', async () => {
    const { declare, stored, run } = setUp()
    await run('run_1')
    expect(await declare([OPS])).toEqual(['webhook.insert'])

    expect(await stored()).toEqual([expect.objectContaining({ ...OPS, source: 'code', position: 3, version: 1 })])
  })

  it('writes nothing while nothing changes, and nothing at all without webhooks', async () => {
    const { declare } = setUp()
    expect(await declare([], false)).toEqual([])
    await declare([OPS])

    expect(await declare([OPS])).toEqual([])
  })

  it('changes a known webhook and lets it continue where it stopped', async () => {
    const { declare, stored, run } = setUp()
    const narrow = { ...OPS, targets: ['echo'], owner: 'alice' }
    await declare([narrow])
    await run('run_1')

    expect(await declare([{ ...OPS, events: ['run.*'] }])).toEqual(['webhook.replace'])

    const [{ targets, owner, ...webhook } = {} as never] = await stored()
    expect([targets, owner]).toEqual([undefined, undefined])
    expect(webhook).toMatchObject({ events: ['run.*'], position: 0, version: 2 })
  })

  it('deletes a webhook that the configuration no longer has, and no webhook of the API', async () => {
    const { declare, stored, manageWebhooks } = setUp()
    await manageWebhooks.create({ ...BY_ALICE, webhook: { id: 'hook', url: URL } })
    await declare([OPS])

    expect(await declare([])).toEqual(['webhook.delete'])
    expect((await stored()).map(({ id }) => id)).toEqual(['hook'])
  })

  it('replaces a webhook of the API that has the same id', async () => {
    const { declare, stored, manageWebhooks } = setUp()
    await manageWebhooks.create({ ...BY_ALICE, webhook: { id: 'ops', url: URL } })

    expect(await declare([OPS])).toEqual(['webhook.delete', 'webhook.insert'])
    expect(await stored()).toEqual([expect.objectContaining({ source: 'code', secrets: [{ ref: 'env:HOOK' }] })])
  })

  it('lets the only server of a storage send at once what a dead one had claimed', async () => {
    const { declare } = setUp()
    await declare([OPS])

    expect(await declare([OPS], false)).toEqual(['delivery.release'])
  })
})
