import { describe, expect, it } from 'vitest'
import type { AgentRegistration } from '../targets/agent.ts'
import { audited, bodyOf, key } from '../triggers/triggers.fixture.ts'
import { aHook, startHookServer } from './hooks.fixture.ts'

const refusal = (code: string) => expect.objectContaining({ code })
const PRINCIPAL = { subject: 'ops', scopes: ['hooks:read', 'hooks:write'] }
const waits = (name: string): AgentRegistration => ({
  id: name.replace('.', '-'),
  description: 'Waits for an event.',
  agent: { id: name.replace('.', '-'), run: (_, ctx) => ctx.waitForEvent(name) },
})

describe('a hook to an event', () => {
  it('wakes the runs that wait for the event and for its key, and fires the triggers of the event, once', async () => {
    const agents = [waits('paid'), waits('paid.o-7'), waits('paid.o-8')]
    const server = await startHookServer({
      agents: [...agents, { id: 'echo', description: 'Echoes.', agent: { id: 'echo', run: (input) => input } }],
      hooks: [aHook({ to: { event: 'paid', key: 'order.id' } })],
    })
    await server.create({ id: 'own', kind: 'event', event: 'paid', target: { agentId: 'echo' } })
    for (const { id = '' } of agents) {
      await server.engine.startRun({
        ...{ target: { kind: 'agent', id }, body: { input: {} }, principal: { subject: 'alice', scopes: ['admin:*'] } },
        answer: 'accepted',
      })
    }
    await server.untilIdle()

    const received = await server.receive({ order: { id: 'o-7' } })
    await server.receive({ order: { id: 'o-7' } })
    await server.untilIdle()

    expect(received).toMatchObject({ delivery: { status: 'accepted', event: 'paid.o-7' } })
    const ended = (await server.runs()).map(({ targetId, status }) => `${targetId} ${status}`)
    expect(ended.toSorted()).toEqual([
      ...['echo completed', 'paid completed', 'paid-o-7 completed', 'paid-o-8 suspended'],
    ])
  })
})

it('shows the content of a delivery that is replayed only to those who may read deliveries of the hook', async () => {
  const server = await startHookServer()
  await server.receive({ card: '4242' })
  const [{ id: hookDeliveryId = '' } = {}] = await server.deliveries()
  const replayBy = async (...scopes: readonly string[]) =>
    bodyOf(await server.manageHooks.replay({ hookId: 'shop', hookDeliveryId, principal: { subject: 'ops', scopes } }))

  expect(await replayBy('hooks:write')).toMatchObject({ status: 'accepted', headers: {}, body: '' })
  expect(await replayBy('hooks:write', 'hooks:read:other')).toMatchObject({ headers: {}, body: '' })
  expect(await replayBy('hooks:write', 'hooks:read:shop')).toMatchObject({ body: '{"card":"4242"}' })
})

it('plans each of many waits once for many deliveries at the same time', async () => {
  let planned = 0
  const server = await startHookServer({
    agents: [waits('paid')],
    hooks: [aHook({ to: { event: 'paid' } })],
    wrap: (unitOfWork) => ({
      commit(writes) {
        for (const write of writes) if (write.type === 'emission.insert') planned += write.part.waits.length
        return unitOfWork.commit(writes)
      },
    }),
  })
  for (let count = 0; count < 250; count++) {
    await server.engine.startRun({
      ...{ target: { kind: 'agent', id: 'paid' }, body: { input: {} }, answer: 'accepted' },
      principal: { subject: 'alice', scopes: ['admin:*'] },
    })
    if (count % 50 === 0) await server.untilIdle()
  }
  await server.untilIdle()

  await Promise.all([...Array(20).keys()].map((n) => server.receive({ n }, { 'x-delivery': `d-${n}` })))
  await server.untilIdle()

  expect(new Set((await server.runs()).map(({ status }) => status))).toEqual(new Set(['completed']))
  expect(planned).toBeLessThanOrEqual(250)
})

describe('ManageHooks', () => {
  it('lists hooks without their secrets', async () => {
    const server = await startHookServer({ hooks: [aHook({ id: 'b', to: { event: 'paid' } }), aHook({ id: 'a' })] })
    const { items } = server.manageHooks.list({ limit: 1, order: 'desc' })
    expect(items).toHaveLength(1)
    expect(server.manageHooks.get('b')).toEqual({
      ...{ id: 'b', path: '/v1/hooks/b', verify: 'github', secrets: 2, to: { event: 'paid' } },
    })
    expect(() => server.manageHooks.get('c')).toThrow(refusal('hook-not-found'))
  })

  it('lists, shows and replays a dead delivery with the present code, once per key, with an audit entry', async () => {
    let isBroken = true
    const input = ({ body }: { body: unknown }) => {
      if (isBroken) throw new Error('a bug')
      return body
    }
    const server = await startHookServer({ hooks: [aHook({ to: { agent: 'echo', input } })] })
    await server.receive({ order: 7 })
    const page = { limit: 10, order: 'desc' } as const
    const [dead] = (await server.manageHooks.listDeliveries('shop', { ...page, status: 'dead' })).items
    expect(dead).toMatchObject({ status: 'dead', reason: 'input: a bug', replays: 0 })
    expect(dead).not.toHaveProperty('body')
    const call = { hookId: 'shop', hookDeliveryId: dead?.id ?? '', principal: PRINCIPAL }
    expect(await server.manageHooks.getDelivery('shop', call.hookDeliveryId)).toMatchObject({ body: '{"order":7}' })
    expect(bodyOf(await server.manageHooks.replay(call))).toMatchObject({ status: 'dead', replays: 1 })

    isBroken = false
    const replayed = bodyOf(await server.manageHooks.replay({ ...call, ...key('k') }))
    expect(replayed).toMatchObject({ status: 'accepted', replays: 2 })
    expect(replayed.reason).toBeUndefined()
    expect(bodyOf(await server.manageHooks.replay({ ...call, ...key('k') }))).toEqual(
      JSON.parse(JSON.stringify(replayed)),
    )
    await server.untilIdle()

    expect(server.seen.map(({ input: got }) => got)).toEqual([{ order: 7 }])
    expect(await audited(server.storage)).toEqual(['hooks.replay shop', 'hooks.replay shop'])
    expect(await server.deliveries()).toMatchObject([{ status: 'accepted', replays: 2 }])
  })

  it('refuses to show and replay a delivery of another hook', async () => {
    const server = await startHookServer({ hooks: [aHook(), aHook({ id: 'other' })] })
    await server.receive({})
    const [delivery] = await server.deliveries()
    const hookDeliveryId = delivery?.id ?? ''
    await expect(server.manageHooks.getDelivery('other', hookDeliveryId)).rejects.toEqual(
      refusal('hook-delivery-not-found'),
    )
    await expect(server.manageHooks.replay({ hookId: 'other', hookDeliveryId, principal: PRINCIPAL })).rejects.toEqual(
      refusal('hook-delivery-not-found'),
    )
  })

  it('signs a sample and handles it like a delivery, once per key', async () => {
    const server = await startHookServer()
    const call = { hookId: 'shop', principal: PRINCIPAL, body: { order: 9 } }
    const first = bodyOf(await server.manageHooks.test({ ...call, ...key('k') }))
    const again = bodyOf(await server.manageHooks.test({ ...call, ...key('k') }))
    await server.untilIdle()

    expect(first).toMatchObject({ status: 'accepted', deliveryId: expect.stringMatching(/^test-/) })
    expect(again).toEqual(first)
    expect(server.seen).toMatchObject([{ input: { order: 9 } }])
  })

  it('sends further headers with a sample, but not in place of those that make it valid', async () => {
    const input = ({ headers }: { headers: Readonly<Record<string, string>> }) => headers['x-event']
    const server = await startHookServer({ hooks: [aHook({ headers: ['x-event'], to: { agent: 'echo', input } })] })

    const headers = { 'X-Event': 'issues', 'X-Signature': 'wrong', 'Content-Type': 'text/plain' }
    const sample = bodyOf(await server.manageHooks.test({ hookId: 'shop', principal: PRINCIPAL, headers }))
    await server.untilIdle()

    expect(sample).toMatchObject({ status: 'accepted', headers: { 'content-type': 'application/json' } })
    expect(server.seen).toMatchObject([{ input: 'issues' }])
  })

  it('refuses to test a hook whose requests only the sender can sign', async () => {
    const { verifier } = aHook()
    const server = await startHookServer({ hooks: [aHook({ verifier: { ...verifier, sign: undefined } })] })
    await expect(server.manageHooks.test({ hookId: 'shop', principal: PRINCIPAL })).rejects.toEqual(
      refusal('hook-not-testable'),
    )
  })
})
