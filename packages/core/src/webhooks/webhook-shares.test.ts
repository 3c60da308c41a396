import { EVERY_ROW, isRefusal, type Visibility } from '@perdure/ports'
import { aWebhook } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { LANES_PER_SUBJECT } from './webhook-lanes.ts'
import { createWebhookWorld, runsOf, URL, type WorldOptions } from './webhooks.fixture.ts'

const SCOPES = ['admin:*']
const idOf = (thrown: unknown) => (isRefusal(thrown) ? thrown.code : thrown)

function setUp(options?: WorldOptions) {
  const world = createWebhookWorld(options)
  const { manageWebhooks, storage } = world
  const create = async (subject: string, webhook: object = {}, isRestricted = true) => {
    const visibility: Visibility = isRestricted ? { owner: subject } : EVERY_ROW
    const call = { principal: { subject, scopes: SCOPES }, visibility, webhook: { url: URL, ...webhook } }
    return manageWebhooks.create(call).then(({ body }) => (body as { readonly id: string }).id, idOf)
  }
  const insert = (count: number, over: Parameters<typeof aWebhook>[0] = {}) =>
    storage.unitOfWork.commit(
      Array.from({ length: count }, (_, n) => ({
        type: 'webhook.insert',
        webhook: aWebhook({ id: `hook-${over.createdBy}-${n}`, ...over }),
      })),
    )
  return { ...world, create, insert }
}

describe('the number of webhooks', () => {
  it('is limited per subject, also for requests at the same time', async () => {
    const { create, manageWebhooks } = setUp()
    const made = await Promise.all(Array.from({ length: 9 }, () => create('mallory')))

    expect(made.filter((id) => id === 'webhook-limit')).toHaveLength(6)
    expect(await create('alice')).not.toBe('webhook-limit')
    expect(await create('mallory', {}, false)).not.toBe('webhook-limit')
    const principal = { subject: 'mallory', scopes: SCOPES }
    for (const webhookId of made.filter((id) => id !== 'webhook-limit').slice(0, 2)) {
      await manageWebhooks.remove({ webhookId: String(webhookId), principal, visibility: EVERY_ROW })
    }
    expect(await create('mallory')).not.toBe('webhook-limit')
    expect(await create('mallory')).toBe('webhook-limit')
  })

  it('is limited per subject for requests that two processes receive at the same time', async () => {
    const first = setUp()
    const second = setUp({ storage: first.storage, ids: first.ids })

    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? first : second).create('mallory', { url: `${URL}/${n}` })),
    )

    expect(made.filter((id) => id === 'webhook-limit')).toHaveLength(7)
    expect(await first.storage.webhooks.list()).toHaveLength(3)
  })

  it('leaves a reserve to callers with a grant for every webhook', async () => {
    const { create, insert } = setUp()
    await insert(899, { createdBy: 'others', owner: 'others' })
    expect(await create('alice')).not.toBe('webhook-limit')
    expect(await create('bob')).toBe('webhook-limit')
    expect(await create('root', {}, false)).not.toBe('webhook-limit')
    await insert(99, { createdBy: 'more', owner: 'more' })
    expect(await create('root', {}, false)).toBe('webhook-limit')
  })

  it('does not tell a caller with a grant for its own webhooks which ids are taken', async () => {
    const { create } = setUp()
    await create('alice', { id: 'taken' }, false)
    for (const id of ['taken', 'free']) expect(await create('mallory', { id })).toBe('scope-denied')
    expect(await create('root', { id: 'taken' }, false)).toBe('webhook-exists')
  })
})

describe('the lanes of a subject', () => {
  it('are limited while its endpoints hang, and others are served', async () => {
    const { create, receiver, daemon, run, settle } = setUp()
    const hook = { owner: '*', events: ['run.started'] }
    for (let n = 0; n < 20; n++) await create('mallory', { ...hook, url: 'https://slow.example/' }, false)
    await create('alice', hook, false)
    const slow: (() => void)[] = []
    receiver.answer = ({ url }) =>
      url === URL ? { status: 204 } : new Promise((resolve) => slow.push(() => resolve({ status: 204 })))
    daemon.start()
    await run('run_1')
    await settle()
    await run('run_2')
    await settle()

    const sentTo = (url: string) =>
      runsOf({ ...receiver, requests: receiver.requests.filter((one) => one.url === url) })
    expect(slow).toHaveLength(LANES_PER_SUBJECT)
    expect(sentTo(URL)).toEqual(['run_1', 'run_2'])
    for (let turn = 0; turn < 10; turn++) {
      for (const answer of slow.splice(0)) answer()
      await settle()
    }
    expect(sentTo('https://slow.example/')).toHaveLength(40)
    await daemon.stop()
  })

  it.each(['first attempts', 'retries'])(
    'are taken in turn, so that the backlog of some webhooks does not hold up the others: %s',
    async (kind) => {
      const { create, receiver, daemon, run, settle, clock } = setUp()
      const count = LANES_PER_SUBJECT + 1
      const hook = { owner: '*', events: ['run.started'] }
      for (let n = 0; n < count; n++) await create('mallory', { ...hook, url: `https://e${n}.example/` }, false)
      for (let n = 0; n < 100; n++) await run(`run_${n}`)
      const sendAll = async (status: number) => {
        let total = 0
        const firstAfter = new Map<string, number>()
        receiver.answer = async ({ url }) => {
          if (!firstAfter.has(url)) firstAfter.set(url, total)
          total += 1
          await new Promise((resolve) => setImmediate(resolve))
          return { status }
        }
        daemon.start()
        for (let n = 0; n < 100 && total < count * 100; n++) await settle()
        return { total, firstAfter }
      }
      if (kind === 'retries') {
        expect((await sendAll(500)).total).toBe(count * 100)
        clock.advance(6_000)
      }

      const { total, firstAfter } = await sendAll(204)

      expect(total).toBe(count * 100)
      expect(firstAfter.size).toBe(count)
      expect(Math.max(...firstAfter.values())).toBeLessThan(LANES_PER_SUBJECT * 60)
      await daemon.stop()
    },
  )
})
