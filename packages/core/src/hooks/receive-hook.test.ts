import { fromJsonText } from '@perdure/ports'
import type { HookTarget, IncomingDelivery } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { ALICE } from '../triggers/triggers.fixture.ts'
import { aHook, startHookServer } from './hooks.fixture.ts'

const refusal = (code: string) => expect.objectContaining({ code })

const DEAD: readonly (readonly [title: string, to: HookTarget, reason: string])[] = [
  ['input throws', { agent: 'echo', input: () => fail('no such order') }, 'input: no such order'],
  ['input rejects', { agent: 'echo', input: () => Promise.reject(new Error('later')) }, 'input: later'],
  ['sessionId throws', { agent: 'echo', sessionId: () => fail('no thread') }, 'sessionId: no thread'],
  ['sessionId is not an id', { agent: 'echo', sessionId: () => 'a b' }, 'sessionId: "a b" is not a session id'],
  ['the key is not a text', { event: 'paid', key: 'object' }, 'key: must be a text or a number'],
  ['the key is unusable', { event: 'paid', key: () => 'a/b' }, 'key: "paid.a/b" is not a valid event name'],
]

describe('receiveHook', () => {
  it('stores a verified delivery and starts the agent with its body, once for any number of repetitions', async () => {
    const server = await startHookServer()
    const first = await server.receive({ order: 7 })
    await server.untilIdle()
    const repeated = [await server.receive({ order: 7 }), await server.receive({ order: 8 })]
    await server.untilIdle()

    expect(first).toMatchObject({ kind: 'delivery', delivery: { deliveryId: 'd-1', status: 'accepted', replays: 0 } })
    for (const one of repeated) expect(one).toEqual(first)
    expect(server.seen.map(({ input }) => input)).toEqual([{ order: 7 }])
    expect(await server.fires('hook-shop')).toMatchObject([{ status: 'completed' }])
    expect((await server.runs())[0]).toMatchObject({ owner: 'system', triggerId: 'hook-shop' })
  })

  it('starts one run when the same delivery arrives several times at once', async () => {
    const server = await startHookServer()
    const all = await Promise.all(Array.from({ length: 8 }, () => server.receive({ order: 7 })))
    await server.untilIdle()

    expect(new Set(all.map((one) => (one.kind === 'delivery' ? one.delivery.id : ''))).size).toBe(1)
    expect(server.seen).toHaveLength(1)
  })

  it('starts every delivery, even while the run of an earlier one is active', async () => {
    const server = await startHookServer({ hooks: [aHook({ to: { agent: 'held' } })] })
    for (const id of ['d-1', 'd-2', 'd-3']) await server.receive({ id }, { 'x-delivery': id })
    await server.untilIdle()

    expect(server.seen).toHaveLength(3)
    await server.release()
  })

  it('refuses an unknown hook without reading the body, and a wrong signature without storing anything', async () => {
    const server = await startHookServer()
    const readBody = () => Promise.reject(new Error('read'))
    await expect(server.receiveHook({ hookId: 'nope', header: () => undefined, readBody })).rejects.toEqual(
      refusal('hook-not-found'),
    )
    for (const signature of ['secre', 'secret ', '', undefined]) {
      await expect(server.receive({}, { 'x-signature': signature })).rejects.toEqual(refusal('hook-signature-invalid'))
    }
    expect(await server.deliveries()).toEqual([])
  })

  it('accepts each of several secrets, and none but those', async () => {
    const server = await startHookServer()
    await server.receive({}, { 'x-signature': 'old', 'x-delivery': 'd-2' })
    expect(await server.deliveries()).toMatchObject([{ status: 'accepted' }])
  })

  it('is unavailable while no secret can be resolved', async () => {
    const server = await startHookServer({ secrets: {} })
    await expect(server.receive({})).rejects.toEqual(refusal('hook-unavailable'))
  })

  it('is unavailable while one of its secrets is missing and the others do not fit, so that the sender repeats it', async () => {
    const logged: unknown[] = []
    const logger = { ...silentLogger, error: (...line: unknown[]) => void logged.push(line) }
    const server = await startHookServer({ secrets: { 'env:OLD': 'old' }, logger })
    await expect(server.receive({}, { 'x-signature': 'secret' })).rejects.toEqual(refusal('hook-unavailable'))
    expect(logged).toEqual([[expect.stringContaining('cannot be resolved'), undefined, { hookId: 'shop', missing: 1 }]])
    expect(await server.receive({}, { 'x-signature': 'old' })).toMatchObject({ kind: 'delivery' })
  })

  it('is unavailable while its secrets are blank, and never verifies with a blank secret', async () => {
    const server = await startHookServer({ secrets: { 'env:SHOP': ' \n', 'env:OLD': '\ufeff' } })
    for (const signature of ['', ' \n', undefined])
      await expect(server.receive({}, { 'x-signature': signature })).rejects.toEqual(refusal('hook-unavailable'))

    const half = await startHookServer({ secrets: { 'env:SHOP': ' \n', 'env:OLD': 'old' } })
    await expect(half.receive({}, { 'x-signature': '' })).rejects.toEqual(refusal('hook-unavailable'))
    expect(await half.receive({}, { 'x-signature': 'old' })).toMatchObject({ kind: 'delivery' })
    expect(await server.deliveries()).toEqual([])
  })

  it('is unavailable when the function that verifies throws, and logs its error', async () => {
    const failure = new Error('certificate not reachable')
    const logged: unknown[] = []
    const logger = { ...silentLogger, error: (...line: unknown[]) => void logged.push(line) }
    const verifier = { headers: [], verify: () => Promise.reject(failure) }
    const server = await startHookServer({ hooks: [aHook({ verifier })], logger })
    await expect(server.receive({})).rejects.toEqual(refusal('hook-unavailable'))
    expect(logged).toEqual([[expect.stringContaining('verify'), failure, { hookId: 'shop' }]])
    expect(await server.deliveries()).toEqual([])
  })

  it('answers a challenge without storing it', async () => {
    const server = await startHookServer()
    expect(await server.receive({}, { 'x-challenge': 'abc' })).toEqual({ kind: 'challenge', text: 'abc' })
    expect(await server.deliveries()).toEqual([])
  })

  it('uses a hash of the body when the sender gives no id, and of an unusual id', async () => {
    const server = await startHookServer()
    for (const body of [{ order: 7 }, { order: 7 }, { order: 8 }])
      await server.receive(body, { 'x-delivery': undefined })
    for (const order of [9, 10, 9]) await server.receive({ order }, { 'x-delivery': '' })
    await server.receive({}, { 'x-delivery': 'ü '.repeat(200) })
    await server.untilIdle()

    const ids = (await server.deliveries()).map(({ deliveryId }) => deliveryId)
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^sha256:[0-9a-f]{64}$/)))
    expect(ids).toHaveLength(5)
  })

  it('passes on integers that a number cannot hold as texts of their digits', async () => {
    const server = await startHookServer()
    await server.receive(
      '{"id":820982911946154508,"text":"is 9007199254740993","list":[-9007199254740992,9007199254740991,1.5]}',
    )
    await server.untilIdle()

    expect(server.seen.map(({ input }) => input)).toEqual([
      {
        ...{ id: '820982911946154508', text: 'is 9007199254740993' },
        list: ['-9007199254740992', 9_007_199_254_740_991, 1.5],
      },
    ])
  })

  it('refuses a body that is not UTF-8', async () => {
    const server = await startHookServer()
    await expect(server.receive(new Uint8Array([0xff, 0xfe]))).rejects.toEqual(refusal('validation-failed'))
  })

  it('stores the headers that matter and no others', async () => {
    const server = await startHookServer({ hooks: [aHook({ headers: ['x-extra'] })] })
    await server.receive({}, { 'x-kind': 'push', 'x-extra': '1', 'x-other': '2', cookie: 'no' })
    const [delivery] = await server.deliveries()
    expect(delivery && fromJsonText(delivery.headers)).toEqual({
      ...{ 'content-type': 'application/json', 'x-kind': 'push', 'x-extra': '1' },
    })
  })
})

describe('receiveHook with functions', () => {
  it('passes the parsed body to input, and its result to the run', async () => {
    const seen: unknown[] = []
    const input = (delivery: { body: unknown }) => {
      seen.push(delivery.body)
      return { got: delivery.body }
    }
    const server = await startHookServer({ hooks: [aHook({ to: { agent: 'echo', input } })] })
    const bodies: readonly (readonly [text: string, type: string | undefined])[] = [
      ['{"a":1}', 'application/json; charset=utf-8'],
      ['{"b":1}', 'application/vnd.api+json'],
      ['a=1&b=%2F', 'application/x-www-form-urlencoded'],
      ['payload=%7B%22c%22%3A1%7D', 'application/x-www-form-urlencoded'],
      ['plain', 'text/plain'],
      ['none', undefined],
    ]
    for (const [index, [text, type]] of bodies.entries()) {
      await server.receive(text, { 'content-type': type, 'x-delivery': `d-${index}` })
    }
    await server.untilIdle()

    expect(seen).toEqual([{ a: 1 }, { b: 1 }, { a: '1', b: '/' }, { c: 1 }, 'plain', 'none'])
    expect(server.seen.map(({ input: got }) => got)).toEqual(seen.map((got) => ({ got })))
  })

  it.each(DEAD)('keeps a delivery as dead when %s', async (_, to, reason) => {
    const server = await startHookServer({ hooks: [aHook({ to })] })
    const received = await server.receive({ object: {} })
    await server.untilIdle()

    expect(received).toMatchObject({
      delivery: { status: 'dead', reason: expect.stringContaining(reason), fireIds: [] },
    })
    expect(server.seen).toEqual([])
    expect(await server.receive({ object: {} })).toEqual(received)
  })

  it('keeps a delivery as dead when its body is not the JSON that its type announces', async () => {
    const server = await startHookServer()
    expect(await server.receive('{"a":')).toMatchObject({ delivery: { status: 'dead', reason: /^the body: / } })
    const deep = '['.repeat(200_000)
    expect(await server.receive(deep, { 'x-delivery': 'd-2' })).toMatchObject({ delivery: { status: 'dead' } })
  })

  it.each(['{"a":1,"a":2}', '{"a":"\\ud83d"}', '{"__proto__":1}'])(
    'passes the text of %s to an input that does not read the body, and is dead for one that does',
    async (sent) => {
      const reading = (member: 'text' | 'body') =>
        startHookServer({
          hooks: [aHook({ to: { agent: 'echo', input: (delivery) => ({ sent: delivery[member] }) } })],
        })
      expect(await (await reading('text')).receive(sent)).toMatchObject({ delivery: { status: 'accepted' } })
      const dead = { status: 'dead', reason: expect.stringMatching(/^input: /) }
      expect(await (await reading('body')).receive(sent)).toMatchObject({ delivery: dead })
    },
  )

  it('keeps a delivery as dead when the schema of the target refuses the input, until a corrected hook replays it', async () => {
    let wrap = false
    const input = ({ body }: IncomingDelivery) => (wrap ? { order: body.order } : 'order 1')
    const strict = { id: 'strict', description: '', input: anObject, agent: { id: 'strict', run: async () => 1 } }
    const server = await startHookServer({ agents: [strict], hooks: [aHook({ to: { agent: 'strict', input } })] })
    const received = await server.receive({})
    await server.untilIdle()
    expect(received).toMatchObject({
      delivery: { status: 'dead', reason: 'the schema of "strict": input: must be an object', fireIds: [] },
    })
    expect(await server.fires('hook-shop')).toEqual([])

    wrap = true
    const [dead] = await server.deliveries()
    await server.manageHooks.replay({ hookId: 'shop', hookDeliveryId: String(dead?.id), principal: ALICE })
    await server.untilIdle()
    expect(await server.deliveries()).toMatchObject([{ status: 'accepted', replays: 1 }])
    expect(await server.fires('hook-shop')).toMatchObject([{ status: 'completed' }])
  })

  it('accepts a delivery whose body lacks the key, and says that only the event without it was emitted', async () => {
    const server = await startHookServer({ hooks: [aHook({ to: { event: 'paid', key: 'data.id' } })] })
    expect(await server.receive({ data: {} })).toMatchObject({
      delivery: {
        ...{ status: 'accepted', event: 'paid' },
        reason: 'key: the body has no "data.id", so only the event "paid" was emitted',
      },
    })
    const found = await server.receive({ data: { id: 7 } }, { 'x-delivery': 'd-2' })
    expect(found).toMatchObject({ delivery: { event: 'paid.7' } })
    expect(found).not.toMatchObject({ delivery: { reason: expect.anything() } })
  })

  it('ignores a delivery for which input returns undefined', async () => {
    const server = await startHookServer({ hooks: [aHook({ to: { agent: 'echo', input: () => undefined } })] })
    expect(await server.receive({})).toMatchObject({
      delivery: { status: 'ignored', reason: 'input returned undefined' },
    })
  })

  it('ignores a delivery while the trigger of the hook is disabled', async () => {
    const server = await startHookServer()
    await server.triggers.manageTriggers.disable(server.call('hook-shop'))
    expect(await server.receive({})).toMatchObject({ delivery: { status: 'ignored' } })
    await server.triggers.manageTriggers.enable(server.call('hook-shop'))
    expect(await server.receive({}, { 'x-delivery': 'd-2' })).toMatchObject({ delivery: { status: 'accepted' } })
  })

  it('starts the runs of one thread in one session', async () => {
    const to = { agent: 'echo', sessionId: threadOf }
    const server = await startHookServer({ hooks: [aHook({ to })] })
    for (const [index, thread] of ['a', 'a', 'b'].entries()) {
      await server.receive({ thread }, { 'x-delivery': `d-${index}` })
      await server.untilIdle()
    }
    const sessions = (await server.runs()).map((run) => run.sessionId)
    expect(sessions).toEqual(['thread-a', 'thread-a', 'thread-b'])
  })

  it('fires the triggers of the kind webhook that other callers have created', async () => {
    const server = await startHookServer({ hooks: [aHook({ to: undefined })] })
    await server.create({ id: 'own', kind: 'webhook', hook: 'shop', target: { agentId: 'echo' } })
    await expect(
      server.create({ id: 'none', kind: 'webhook', hook: 'nope', target: { agentId: 'echo' } }),
    ).rejects.toThrow('no such hook in webhooks.in: "nope"')
    await server.receive({ order: 7 })
    await server.untilIdle()

    expect(server.seen).toMatchObject([{ input: { order: 7 } }])
    expect((await server.runs())[0]).toMatchObject({ owner: 'alice', triggerId: 'own' })
  })
})

const anObject = {
  '~standard': {
    ...{ version: 1, vendor: 'test' },
    validate: (value: unknown) =>
      typeof value === 'object' ? { value } : { issues: [{ message: 'must be an object' }] },
  },
} as never

const threadOf = ({ body }: IncomingDelivery): string => `thread-${body.thread}`

function fail(message: string): never {
  throw new Error(message)
}
