import { PerdureError } from '@perdure/protocol/error'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClientWorld } from './client-world.fixture.ts'
import { collect } from './collect.fixture.ts'
import { settle } from './manual-pace.fixture.ts'
import type { createModelServer } from './model-server.fixture.ts'

const RUN = 'agent:echo/runs/run_1/events'
const INBOX = 'approvals/events'
const SESSION = 'session:ses_1/events'

const publish = (server: ReturnType<typeof createModelServer>, count: number, subject = INBOX) =>
  Array.from({ length: count }, () => server.publish(subject).eventId)

describe('a subscription without a WebSocket', () => {
  it.each([
    ['the environment has no WebSocket', { WebSocket: undefined }, {}],
    ['the client has the transport sse', { transport: 'sse' as const }, {}],
    [
      'the client with the transport sse is asked for another',
      { transport: 'sse' as const },
      { transport: 'websocket' as const },
    ],
    ['the subscription has the transport sse', {}, { transport: 'sse' as const }],
  ])('uses the event stream if %s', async (_, options, subscribeOptions) => {
    vi.stubGlobal('WebSocket', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    const { client, server, pace } = createClientWorld(options)
    const seen = collect(client.subscribe(RUN, subscribeOptions))
    publish(server, 2, RUN)
    await pace.advance(0)
    server.publish(RUN, 'run.completed')
    await settle()

    expect(seen.ids()).toEqual(['e1.1', 'e1.2', 'e1.3'])
    expect(seen.ending()).toBe('ended')
    expect(server.upgrades).toEqual([])
  })

  it('falls back to the event stream after two failed upgrades and resumes at its cursor', async () => {
    const { client, server, pace } = createClientWorld()
    const seen = collect(client.subscribe(SESSION))
    await pace.advance(0)
    publish(server, 2, SESSION)
    await settle()

    server.refuse(99)
    server.cut()
    await settle()
    publish(server, 2, SESSION)
    await pace.advance(60_000)

    expect(seen.ids()).toEqual(['e1.1', 'e1.2', 'e1.3', 'e1.4'])
    expect(server.upgrades).toHaveLength(3)
  })

  it('keeps retrying the WebSocket if there is no event stream or transport is websocket', async () => {
    const { client, server, pace } = createClientWorld()
    server.refuse(5)
    const inbox = collect(client.subscribe(INBOX, { lastEventId: 'e1.0' }))
    const session = collect(client.subscribe(SESSION, { lastEventId: 'e1.0', transport: 'websocket' }))
    publish(server, 1)
    publish(server, 1, SESSION)
    await pace.advance(120_000)

    expect([inbox.ids(), session.ids()]).toEqual([['e1.1'], ['e1.2']])
    expect(server.upgrades).toHaveLength(6)
  })

  it('does not fall back if it has tickets but no token, because a ticket cannot open an event stream', async () => {
    const { client, server, pace } = createClientWorld({ token: undefined, tickets: async () => 'mine' })
    server.refuse(3)
    const seen = collect(client.subscribe(SESSION, { lastEventId: 'e1.0' }))
    publish(server, 1, SESSION)
    await pace.advance(120_000)

    expect(seen.ids()).toEqual(['e1.1'])
    expect(server.upgrades.at(-1)).toEqual(['svc.protocol.v1', 'ticket.mine'])
    expect(server.requests).toEqual([])
  })

  it.each([INBOX, 'agent:*/events', 'nonsense'])('rejects %s if transport is sse', (subject) => {
    const { client } = createClientWorld()

    expect(() => client.subscribe(subject, { transport: 'sse' })).toThrow(PerdureError)
  })
})
