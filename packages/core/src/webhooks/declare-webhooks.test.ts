import { EVERY_ROW, type Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { testDigest } from '../auth/tokens.fixture.ts'
import { createOtherNodes } from '../declarations/other-nodes.fixture.ts'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { type ConfiguredWebhook, declareWebhooks, redeclareWebhooks, webhookFingerprint } from './declare-webhooks.ts'
import { BY_ALICE, createWebhookWorld, URL } from './webhooks.fixture.ts'

const OPS: ConfiguredWebhook = { id: 'ops', url: URL, events: ['run.completed'], secrets: [{ ref: 'env:HOOK' }] }

const HOUR = 3_600_000

/** A storage, and the writes with which the webhooks of a configuration are declared in it. */
function setUp() {
  const world = createWebhookWorld()
  const { storage, clock } = world
  const { nodes, others, declaring } = createOtherNodes()
  const types: Write['type'][] = []
  const unitOfWork: typeof storage.unitOfWork = {
    commit(writes) {
      types.push(...writes.map(({ type }) => type))
      return storage.unitOfWork.commit(writes)
    },
  }
  const deps = {
    ...{ ...storage, unitOfWork, clock, digest: testDigest, logger: silentLogger, nodes, executor: 'self' },
    undeclaredMs: HOUR,
  }
  const written = async (work: Promise<void>) => {
    types.length = 0
    await work
    return [...types]
  }
  return {
    ...world,
    others,
    declaresOps: (webhook = OPS) => [declaring('webhook', 'ops', webhookFingerprint(testDigest, webhook))],
    declare: (configured: readonly ConfiguredWebhook[], isStorageShared = true) =>
      written(declareWebhooks({ ...deps, isStorageShared }, configured)),
    redeclare: (configured: readonly ConfiguredWebhook[]) =>
      written(redeclareWebhooks({ ...deps, isStorageShared: true }, configured)),
    stored: () => storage.webhooks.list(),
  }
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

  it('keeps a webhook that no process declares for the grace period, with its deliveries and its position', async () => {
    const { declare, redeclare, stored, run, clock, storage, daemon, settle } = setUp()
    await declare([OPS])
    await run('run_1')
    const [{ position } = {} as never] = await stored()

    expect(await declare([])).toEqual(['webhook.replace'])
    expect(await stored()).toMatchObject([{ id: 'ops', position, undeclaredAt: clock.now() }])
    daemon.start()
    await settle()
    await daemon.stop()
    expect((await storage.deliveries.list({ webhookId: 'ops' }, { limit: 9, order: 'asc' })).items).toHaveLength(1)

    clock.advance(HOUR - 1)
    expect(await redeclare([])).toEqual([])
    clock.advance(1)
    expect(await redeclare([])).toEqual(['webhook.replace', 'webhook.delete'])
    expect(await stored()).toEqual([])
  })

  it('ends the grace period of a webhook that is declared again', async () => {
    const { declare, redeclare, stored, clock } = setUp()
    await declare([OPS])
    await declare([])
    clock.advance(HOUR - 1)

    expect(await declare([OPS])).toEqual(['webhook.replace'])
    expect((await stored())[0]?.undeclaredAt).toBeUndefined()
    clock.advance(HOUR)
    expect(await redeclare([OPS])).toEqual([])
  })

  it('lets an operator delete a webhook only while no process declares it', async () => {
    const { declare, stored, manageWebhooks } = setUp()
    const principal = { subject: 'root', scopes: ['admin:*'] }
    const remove = () => manageWebhooks.remove({ webhookId: 'ops', principal, visibility: EVERY_ROW })
    await declare([OPS])
    await expect(remove()).rejects.toMatchObject({ code: 'webhook-configured' })

    await declare([])

    expect(await remove()).toEqual({ status: 204 })
    expect(await stored()).toEqual([])
  })

  it('does not delete a webhook that was declared again after the stored webhooks were read', async () => {
    const { declare, stored, clock, storage } = setUp()
    await declare([OPS])
    await declare([])
    clock.advance(HOUR)
    const webhooks = {
      ...storage.webhooks,
      async list() {
        const read = await storage.webhooks.list()
        await declare([OPS])
        return read
      },
    }
    const deps = { ...storage, webhooks, clock, digest: testDigest, logger: silentLogger, isStorageShared: true }
    await redeclareWebhooks({ ...deps, undeclaredMs: HOUR }, [])

    expect(await stored()).toMatchObject([{ id: 'ops' }])
  })

  it('keeps a webhook that another living process declares, or may declare', async () => {
    const { declare, redeclare, stored, clock, others, declaresOps } = setUp()
    await declare([OPS])
    for (const declares of [declaresOps(), undefined]) {
      others.set('newer', declares)
      clock.advance(2 * HOUR)

      expect(await declare([])).toEqual([])
      expect(await redeclare([])).toEqual([])
    }
    expect(await stored()).toHaveLength(1)
  })

  it('keeps the definition of a newer configuration, until no process declares it any more', async () => {
    const { declare, redeclare, stored, others, declaresOps } = setUp()
    const newer = { ...OPS, events: ['run.*'] }
    await declare([OPS])
    await declare([newer])
    others.set('newer', declaresOps(newer))

    expect(await declare([OPS])).toEqual([])
    expect(await redeclare([OPS])).toEqual([])
    expect(await stored()).toMatchObject([{ events: ['run.*'] }])
    others.delete('newer')
    expect(await redeclare([OPS])).toEqual(['webhook.replace'])
    expect(await stored()).toMatchObject([{ events: OPS.events }])
  })

  it('replaces a definition at once by one that the webhook has not had yet', async () => {
    const { declare, stored, others, declaresOps } = setUp()
    await declare([OPS])
    others.set('older', declaresOps())

    expect(await declare([{ ...OPS, events: ['run.*'] }])).toEqual(['webhook.replace'])
    expect(await stored()).toMatchObject([{ events: ['run.*'], superseded: [expect.any(String)] }])
  })

  it('leaves webhooks of the API alone, and refuses to start with the id of one', async () => {
    const { declare, stored, manageWebhooks } = setUp()
    await manageWebhooks.create({ ...BY_ALICE, webhook: { id: 'ops', url: URL } })

    expect(await declare([])).toEqual([])
    await expect(declare([OPS])).rejects.toMatchObject({
      kind: 'config-invalid',
      message: expect.stringContaining('the id ops belongs to a webhook that was created over the API'),
    })
    expect(await stored()).toMatchObject([{ id: 'ops', source: 'api', version: 1 }])
  })

  it('lets the only server of a storage send at once what a dead one had claimed', async () => {
    const { declare } = setUp()
    await declare([OPS])

    expect(await declare([OPS], false)).toEqual(['delivery.release'])
  })
})
