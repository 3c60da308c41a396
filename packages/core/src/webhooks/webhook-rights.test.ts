import { EVERY_ROW, isRefusal, type TokenRecord } from '@perdure/ports'
import { SCOPES, WEBHOOK_EVENTS } from '@perdure/protocol'
import { aToken, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTokenUseCases } from '../auth/token-use-cases.ts'
import { PEPPER, testDigest } from '../auth/tokens.fixture.ts'
import type { ConfiguredWebhook } from './declare-webhooks.ts'
import { createWebhookWorld, runsOf, URL } from './webhooks.fixture.ts'

const READS = ['runs:read:own', 'approvals:read:own', 'triggers:read']
const idOf = (thrown: unknown) => (isRefusal(thrown) ? thrown.code : thrown)
const ADMIN = { subject: 'root', scopes: ['admin:*'] }

async function setUp(...tokens: readonly Partial<TokenRecord>[]) {
  const world = createWebhookWorld()
  const { storage, clock, ids, manageWebhooks } = world
  const { unitOfWork } = storage
  const records = tokens.map((token) =>
    aToken({ subject: 'alice', scopes: ['webhooks:write:own', ...READS], ...token }),
  )
  for (const token of records) await unitOfWork.commit([{ type: 'token.insert', token }])
  const tokenUseCases = createTokenUseCases({
    ...{ ...storage, unitOfWork: world.unitOfWork, clock, ids, digest: testDigest, peppers: [PEPPER] },
    ...{ basePath: '/v1', idempotencyTtlMs: 1_000, isRegistered: () => true },
  })
  const principalOf = (tokenId: string) => {
    const { subject = '', scopes = [] } = records.find(({ id }) => id === tokenId) ?? {}
    return { tokenId, subject, scopes }
  }
  return {
    ...world,
    tokenUseCases,
    principalOf,
    create: (tokenId: string, webhook: object = {}) =>
      manageWebhooks.create({
        ...{ principal: principalOf(tokenId), visibility: EVERY_ROW },
        webhook: { id: 'hook', url: URL, ...webhook },
      }),
    hook: (id = 'hook') => storage.webhooks.find(id),
    async delivered(runId: string) {
      world.receiver.requests.length = 0
      world.daemon.start()
      await world.run(runId)
      await world.settle()
      await world.daemon.stop()
      return [...new Set(runsOf(world.receiver))]
    },
  }
}

describe('the rights of a webhook', () => {
  it.each(
    [...WEBHOOK_EVENTS, 'run.*', 'approval.*', 'trigger.*', '*'].flatMap((pattern) =>
      ['own', 'every'].map((rows) => ({ pattern, rows })),
    ),
  )('include reading what $pattern of $rows owner sends', async ({ pattern, rows }) => {
    const suffix = rows === 'own' ? ':own' : ''
    const needs = [`runs:read${suffix}`, `approvals:read${suffix}`, 'triggers:read'].filter((scope) =>
      pattern === '*' ? true : scope.startsWith(pattern.slice(0, pattern.indexOf('.'))),
    )
    expect(needs).not.toEqual([])
    const others = Object.keys(SCOPES).filter((scope) => !/^(runs|approvals|triggers):read$/.test(scope))
    const narrower = ['runs:read:own', 'approvals:read:own', 'triggers:read:nightly', 'runs:read:run_1']
    const without = [...others, ...narrower.filter((scope) => !needs.includes(scope))]
    const owner = rows === 'own' ? 'alice' : '*'
    const { create } = await setUp(
      { id: 'enough', scopes: needs },
      ...needs.map((_, index) => ({
        id: `lacks-${index}`,
        digest: `digest-${index}`,
        scopes: [...without, ...needs.filter((__, other) => other !== index)],
      })),
    )
    for (const index of needs.keys()) {
      const refused = create(`lacks-${index}`, { events: [pattern], owner })
      expect(await refused.catch(idOf)).toBe('scope-escalation-denied')
    }
    expect(await create('enough', { events: [pattern], owner })).toMatchObject({ status: 201 })
  })

  it('are those of the caller who changes or enables it', async () => {
    const { create, manageWebhooks, principalOf, hook } = await setUp(
      { id: 'alice' },
      { id: 'mallory', digest: 'm', subject: 'mallory', scopes: ['webhooks:write:hook'] },
      { id: 'second', digest: 's' },
    )
    await create('alice')
    const call = { webhookId: 'hook', visibility: EVERY_ROW } as const
    const byMallory = { ...call, principal: principalOf('mallory') }
    const steal = { ...byMallory, change: { url: 'https://mallory.example/' } }
    expect(await manageWebhooks.update(steal).catch(idOf)).toBe('scope-escalation-denied')
    await manageWebhooks.disable(byMallory)
    expect(await manageWebhooks.enable(byMallory).catch(idOf)).toBe('scope-escalation-denied')
    expect(await hook()).toMatchObject({ url: URL, createdByToken: 'alice' })
    await manageWebhooks.enable({ ...call, principal: principalOf('second') })
    expect(await hook()).toMatchObject({ createdByToken: 'second' })
    await manageWebhooks.update({ ...call, principal: principalOf('alice'), change: { events: ['run.*'] } })
    expect(await hook()).toMatchObject({ createdByToken: 'alice' })
  })

  it('end with a token whose parent is revoked, and the answer of the revocation lists the webhook', async () => {
    const { create, delivered, hook, tokenUseCases, manageWebhooks } = await setUp(
      { id: 'root' },
      { id: 'alice', parentId: 'root', digest: 'a' },
      { id: 'bob', digest: 'b' },
    )
    await create('alice')
    await create('bob', { id: 'bobs' })
    expect(await delivered('run_1')).toEqual(['run_1'])
    const reply = await tokenUseCases.revoke({ principal: ADMIN, tokenId: 'root' })
    expect(reply).toEqual({ status: 200, body: { id: 'root', webhooks: ['hook'] } })
    await delivered('run_2')
    expect(await manageWebhooks.get('hook', EVERY_ROW)).toMatchObject({
      ...{ enabled: false, disabledReason: 'its token alice was revoked', createdByToken: 'alice' },
    })
    expect((await hook('bobs'))?.disabledAt).toBeUndefined()
  })

  it.each(['revoked', 'expired', 'removed', 'reduced'])('end with a token that is %s', async (end) => {
    const { create, hook, clock, storage, receiver, daemon, run, settle } = await setUp({
      id: 'alice',
      expiresAt: (BUILT_AT + 60_000) as never,
    })
    await create('alice')
    daemon.start()
    await run('run_1')
    await settle()
    expect(runsOf(receiver)).toContain('run_1')
    receiver.requests.length = 0
    if (end === 'revoked') await storage.unitOfWork.commit([{ type: 'token.revoke', id: 'alice', at: clock.now() }])
    if (end === 'expired') clock.advance(60_000)
    const findMany = storage.tokens.findMany
    if (end === 'removed') Object.assign(storage.tokens, { findMany: async () => [] })
    if (end === 'reduced') {
      const reduced = async (ids: readonly string[]) =>
        (await findMany(ids)).map((token) => ({ ...token, scopes: ['runs:read:own', 'triggers:read'] }))
      Object.assign(storage.tokens, { findMany: reduced })
    }
    await run('run_2')
    await settle()
    await daemon.stop()
    expect(receiver.requests).toEqual([])
    const reasons = {
      ...{ revoked: 'its token alice was revoked', expired: 'its token alice has expired' },
      removed: 'its token alice no longer exists',
      reduced: 'its token alice lacks the scope approvals:read:own',
    }
    expect(await hook()).toMatchObject({ disabledReason: reasons[end as keyof typeof reasons] })
  })

  it('disable the webhook as soon as the token is revoked, without an event', async () => {
    const { create, hook, daemon, settle, tokenUseCases } = await setUp({ id: 'alice' })
    await create('alice')
    daemon.start()
    await settle()
    await tokenUseCases.revoke({ principal: ADMIN, tokenId: 'alice' })
    await settle()
    await daemon.stop()
    expect(await hook()).toMatchObject({ disabledReason: 'its token alice was revoked' })
  })

  it('are asked again for each delivery, also for those that were queued before', async () => {
    const { create, receiver, clock, storage, daemon, run, settle, hook } = await setUp({ id: 'alice' })
    await create('alice', { events: ['run.*'] })
    receiver.answer = async () => {
      await storage.unitOfWork.commit([{ type: 'token.revoke', id: 'alice', at: clock.now() }])
      return { status: 204 }
    }
    await run('run_1')
    daemon.start()
    await settle()
    await daemon.stop()
    expect(receiver.requests).toHaveLength(1)
    expect(await hook()).toMatchObject({ disabledReason: 'its token alice was revoked' })
  })

  it('continue with the token that replaces the token, and end with it', async () => {
    const { create, delivered, tokenUseCases, principalOf, hook } = await setUp({ id: 'alice' })
    await create('alice')
    const rotated = await tokenUseCases.rotate({ principal: principalOf('alice'), tokenId: 'alice' })
    const { id } = rotated.body as { readonly id: string }
    expect(await delivered('run_1')).toEqual(['run_1'])
    expect(await tokenUseCases.revoke({ principal: ADMIN, tokenId: 'alice' })).toEqual({ status: 204 })
    expect(await hook()).toMatchObject({ createdByToken: 'alice' })
    expect(await tokenUseCases.revoke({ principal: ADMIN, tokenId: id })).toEqual({
      status: 200,
      body: { id, webhooks: ['hook'] },
    })
  })

  it('are those of the token that signed in for a session of the console, and outlive the session', async () => {
    const { create, delivered, tokenUseCases, manageWebhooks, principalOf, hook } = await setUp(
      { id: 'alice' },
      { id: 'session', parentId: 'alice', digest: 's' },
    )
    const principal = { ...principalOf('session'), browserSession: 'session' }
    const call = { principal, visibility: EVERY_ROW } as const
    await manageWebhooks.create({ ...call, webhook: { id: 'hook', url: URL } })
    expect(await hook()).toMatchObject({ createdByToken: 'alice' })
    await create('session', { id: 'other' })
    await manageWebhooks.update({ ...call, webhookId: 'other', change: { events: ['run.*'] } })
    expect(await hook('other')).toMatchObject({ createdByToken: 'alice' })

    expect(await tokenUseCases.revoke({ principal: ADMIN, tokenId: 'session' })).toEqual({ status: 204 })
    expect(await delivered('run_1')).toEqual(['run_1'])
    await tokenUseCases.revoke({ principal: ADMIN, tokenId: 'alice' })
    await delivered('run_2')
    expect(await hook()).toMatchObject({ disabledReason: 'its token alice was revoked' })
  })

  it('do not end for a webhook of the configuration, even if it names a token', async () => {
    const { declare, storage, delivered, clock } = await setUp({ id: 'alice' })
    const ops: ConfiguredWebhook = { id: 'hook', url: URL, events: ['*'], secrets: [{ ref: 'env:HOOK' }] }
    await declare([ops])
    await storage.unitOfWork.commit([{ type: 'token.revoke', id: 'alice', at: clock.now() }])
    await delivered('run_1')
    expect(await storage.webhooks.list()).toMatchObject([{ id: 'hook', source: 'code' }])
    expect((await storage.webhooks.find('hook'))?.disabledAt).toBeUndefined()
  })
})
