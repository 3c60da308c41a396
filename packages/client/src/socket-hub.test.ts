import { PerdureError } from '@perdure/protocol/error'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ClientOptions, ConnectionChange } from './client-options.ts'
import { createClientWorld } from './client-world.fixture.ts'
import { collect } from './collect.fixture.ts'
import { createManualPace, settle } from './manual-pace.fixture.ts'
import { refusal } from './scripted-fetch.fixture.ts'

const INBOX = 'approvals/events'

function setUp(options: Partial<ClientOptions> = {}) {
  const world = createClientWorld(options, createManualPace({ chance: 1 }))
  return { ...world, seen: collect(world.client.subscribe(INBOX)) }
}

const closings = (changes: readonly ConnectionChange[]) =>
  changes.flatMap((change) => (change.state === 'closed' ? [[change.code, change.retryInMs]] : []))

describe('a closed WebSocket', () => {
  it.each([1000, 1001, 1005, 1006, 1009, 1011, 1012, 4006, 4007])('is reopened after close code %i', async (code) => {
    const { server, pace, seen, changes } = setUp()
    await pace.advance(0)

    server.closeAll(code)
    await pace.advance(200)
    server.publish(INBOX)
    await settle()

    expect(seen.ids()).toEqual(['e1.1'])
    expect(closings(changes)).toEqual([[code, 200]])
  })

  it('is reopened after 4005 only once the message window has passed', async () => {
    const { server, pace, changes, seen } = setUp()
    await pace.advance(0)

    server.closeAll(4005)
    await settle()

    expect(closings(changes)).toEqual([[4005, 10_200]])
    await pace.advance(10_199)
    expect(server.upgrades).toHaveLength(1)
    await pace.advance(1)
    server.publish(INBOX)
    await settle()
    expect(seen.ids()).toEqual(['e1.1'])
  })

  it.each([
    [4001, 'auth-required'],
    [4002, 'auth-invalid'],
    [4003, 'auth-revoked'],
    [4004, 'scope-denied'],
  ])('retries once with a new ticket after %i, then fails with %s', async (code, error) => {
    const asked: boolean[] = []
    const tickets = ({ isRefused }: { readonly isRefused: boolean }) => `t${asked.push(isRefused)}`
    const { server, pace, seen } = setUp({ tickets })
    server.greetWith(code, code)
    await pace.advance(60_000)

    expect(seen.ending()).toMatchObject({ name: 'PerdureError', code: error, closeCode: code })
    expect(asked).toEqual([false, true])
  })

  it.each([4001, 4002, 4003, 4004])('is reopened after %i if the next ticket is accepted', async (code) => {
    const { server, pace, seen } = setUp()
    await pace.advance(60_000)
    server.closeAll(code)
    await pace.advance(0)

    server.publish(INBOX)
    await settle()

    expect(seen.ids()).toEqual(['e1.1'])
  })

  it('is reopened at once, again and again, while each new ticket is accepted for a second or more', async () => {
    const asked: boolean[] = []
    const tickets = ({ isRefused }: { readonly isRefused: boolean }) => `t${asked.push(isRefused)}`
    const { server, pace, seen } = setUp({ tickets })
    await pace.advance(0)

    for (let renewals = 0; renewals < 10; renewals++) {
      await pace.advance(1_000)
      server.closeAll(4002)
      await pace.advance(0)
    }
    server.publish(INBOX)
    await settle()

    expect(seen.ids()).toEqual(['e1.1'])
    expect(asked).toEqual([false, ...Array.from({ length: 10 }, () => true)])
  })

  it('fails when the server accepts a second new ticket for less than a second', async () => {
    const { server, pace, seen } = setUp()
    await pace.advance(0)

    for (let renewals = 0; renewals < 2; renewals++) {
      await pace.advance(999)
      server.closeAll(4002)
      await pace.advance(0)
    }
    await settle()

    expect(seen.ending()).toMatchObject({ code: 'auth-invalid', closeCode: 4002 })
  })

  it('is not reopened after 4008', async () => {
    const { server, pace, seen } = setUp()
    server.greetWith(4008)
    await pace.advance(60_000)

    expect(seen.ending()).toMatchObject({ code: 'protocol-violation', closeCode: 4008 })
    expect(server.upgrades).toHaveLength(1)
  })

  it('backs off after failed connections and resets the backoff after a stable connection', async () => {
    const { server, pace, changes } = setUp()
    server.greetWith(1011, 1011, 1011, 1011, 1011, 1011, 1011, 1011)
    await pace.advance(120_000)
    server.closeAll(1006)
    await settle()

    const delays = closings(changes).map(([, retryInMs]) => retryInMs)
    expect(delays).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 200])
  })
})

describe('the online event of a page', () => {
  it('reconnects without waiting for the backoff', async () => {
    const listeners = new Set<() => void>()
    vi.stubGlobal('addEventListener', (_: string, listener: () => void) => listeners.add(listener))
    vi.stubGlobal('removeEventListener', (_: string, listener: () => void) => listeners.delete(listener))
    onTestFinished(() => {
      vi.unstubAllGlobals()
    })
    const { server, pace } = setUp()
    server.greetWith(1011, 1011, 1011, 1011, 1011, 1011)
    await pace.advance(11_000)
    const before = server.upgrades.length

    for (const tellOnline of [...listeners]) tellOnline()
    await settle()

    expect(server.upgrades.length).toBe(before + 1)
    expect(listeners.size).toBe(0)
  })
})

describe('a server that stops responding', () => {
  it('is pinged once and disconnected if it stays silent', async () => {
    const { server, pace, changes } = setUp()
    await pace.advance(0)
    server.fallSilent()

    await pace.advance(25_000)
    expect(server.messages.filter((message) => message.startsWith('ping'))).toHaveLength(0)
    await pace.advance(25_000)
    expect(server.messages.filter((message) => message.startsWith('ping'))).toHaveLength(1)
    expect(closings(changes)).toEqual([])
    await pace.advance(25_000)

    expect(closings(changes)).toEqual([[1006, 200]])
  })

  it('stays connected if it answers the ping', async () => {
    const { server, pace, changes } = setUp()
    await pace.advance(600_000)

    expect(closings(changes)).toEqual([])
    expect(server.messages.filter((message) => message.startsWith('ping')).length).toBeGreaterThan(5)
  })

  it('is disconnected if it never completes the handshake', async () => {
    const { server, pace, changes } = setUp()
    server.fallSilent()
    await pace.advance(30_000)

    expect(closings(changes)).toEqual([[1006, 200]])
  })
})

describe('a WebSocket ticket', () => {
  it('ends the subscriptions with its error if it is permanently refused', async () => {
    const { pace, seen, server } = setUp({ fetch: async () => refusal(403, 'scope-denied') })
    await pace.advance(0)

    expect(seen.ending()).toMatchObject({ code: 'scope-denied', status: 403 })
    expect(server.upgrades).toEqual([])
  })

  it('is requested again after a transient error', async () => {
    let calls = 0
    const tickets = async () => {
      calls += 1
      if (calls < 3) throw new TypeError('fetch failed')
      return 'good'
    }
    const { pace, seen, server } = setUp({ tickets })
    await pace.advance(60_000)
    server.publish(INBOX)
    await settle()

    expect(seen.ids()).toEqual(['e1.1'])
    expect(calls).toBe(3)
  })

  it('is not needed without a token', async () => {
    const { pace, server } = setUp({ token: undefined })
    await pace.advance(0)

    expect(server.upgrades).toEqual([['svc.protocol.v1']])
  })
})

describe('a rejected subscription', () => {
  it.each([
    [-32602, 'validation-failed'],
    [-32003, 'scope-denied'],
    [-32010, 'run-not-found'],
  ])('fails on code %i with %s and leaves other subscriptions open', async (code, error) => {
    const { server, pace, client, seen } = setUp()
    await pace.advance(0)
    server.refuseSubscriptions(code)
    const refused = collect(client.subscribe('audit/events'))
    await settle()
    server.publish(INBOX)
    await settle()

    expect(refused.ending()).toBeInstanceOf(PerdureError)
    expect(refused.ending()).toMatchObject({ code: error })
    expect(seen.ids()).toEqual(['e1.1'])
  })

  it.each([-32603, -32004])('is retried on code %i', async (code) => {
    const { server, pace, client } = setUp()
    await pace.advance(0)
    server.refuseSubscriptions(code)
    const seen = collect(client.subscribe('audit/events', { lastEventId: 'e1.0' }))
    await settle()
    server.publish('audit/events')
    await pace.advance(4_000)

    expect(seen.ids()).toEqual(['e1.1'])
  })
})

describe('a WebSocket constructor that throws', () => {
  it('counts as a failed upgrade', async () => {
    function Forbidden(): never {
      throw new Error('not from a secure page')
    }
    const { pace, changes } = setUp({ WebSocket: Forbidden as never })
    await pace.advance(0)

    expect(closings(changes)).toEqual([[1006, 200]])
  })
})
