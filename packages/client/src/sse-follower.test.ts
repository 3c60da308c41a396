import { describe, expect, it } from 'vitest'
import type { ClientOptions } from './client-options.ts'
import { collect } from './collect.fixture.ts'
import { buildClient } from './create-client.ts'
import { createManualPace, settle } from './manual-pace.fixture.ts'
import { noNetwork, refusal, scriptFetch } from './scripted-fetch.fixture.ts'

const RUN = 'agent:echo/runs/run_1/events'

function setUp(replies: Parameters<typeof scriptFetch>, options: Partial<ClientOptions> = {}) {
  const pace = createManualPace({ chance: 1 })
  const { fetch, requests } = scriptFetch(...replies)
  const client = buildClient(
    { baseUrl: 'http://server/v1', token: 'secret', fetch, transport: 'sse', ...options },
    pace,
  )
  return { client, requests, pace }
}

const stream = (...blocks: string[]) =>
  new Response(blocks.map((block) => `${block}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } })

const block = (position: number, type = 'text.delta') =>
  `id: e.${position}\nevent: ${type}\ndata: ${JSON.stringify({ eventId: `e.${position}`, subject: RUN, type })}`

/** Opens a stream that sends nothing. */
const silentStream = () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })

describe('a client with transport sse', () => {
  it('sends the token and follows a run until its last event', async () => {
    const { client, requests, pace } = setUp([stream('id: e.0\ndata:', block(1), ': beat', block(2, 'run.completed'))])
    const seen = collect(client.subscribe(RUN))
    await pace.advance(0)

    expect(seen.ids()).toEqual(['e.1', 'e.2'])
    expect(seen.ending()).toBe('ended')
    expect(requests[0]).toMatchObject({ method: 'GET', path: '/v1/runs/run_1/events' })
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer secret')
    expect(requests[0]?.headers.get('accept')).toBe('text/event-stream')
  })

  it('reports once that the server follows the subject', async () => {
    const begun: string[] = []
    const { client, pace } = setUp([
      refusal(503, 'unavailable'),
      stream('retry: 3000\nid: e.0\ndata:', block(1)),
      stream('id: e.1\ndata:', block(2, 'run.completed')),
    ])
    const seen = collect(client.subscribe(RUN, { onSubscribed: () => begun.push(`after ${seen.items.length} events`) }))
    await pace.advance(20_000)

    expect(seen.ids()).toEqual(['e.1', 'e.2'])
    expect(begun).toEqual(['after 0 events'])
  })

  it("resumes after the last event, after the server's retry delay", async () => {
    const { client, requests, pace } = setUp([
      stream('retry: 3000\nid: e.0\ndata:', block(1)),
      stream('id: e.1\ndata:', block(1), block(2, 'run.failed')),
    ])
    const seen = collect(client.subscribe(RUN))
    await pace.advance(2_999)
    expect(requests).toHaveLength(1)
    await pace.advance(1)

    expect(seen.ids()).toEqual(['e.1', 'e.2'])
    expect(requests.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, 'e.1'])
  })

  it('ends a subscription when the server answers 204', async () => {
    const { client, pace } = setUp([new Response(null, { status: 204 })])
    const seen = collect(client.subscribe(RUN, { lastEventId: 'e.9' }))
    await pace.advance(0)

    expect([seen.ids(), seen.ending()]).toEqual([[], 'ended'])
  })

  it('drops an incomplete block', async () => {
    const broken = new Response(`${block(1)}\n\nid: e.2\nevent: text.delta\ndata: {"eventId":"e.2"`, {
      headers: { 'content-type': 'text/event-stream' },
    })
    const { client, pace } = setUp([broken, stream(block(2), block(3, 'run.aborted'))])
    const seen = collect(client.subscribe(RUN))
    await pace.advance(10_000)

    expect(seen.ids()).toEqual(['e.1', 'e.2', 'e.3'])
  })

  it.each([400, 403, 404, 501])('throws and does not retry after status %i', async (status) => {
    const { client, pace } = setUp([refusal(status, 'run-not-found')])
    const seen = collect(client.subscribe(RUN))
    await pace.advance(0)

    expect(seen.ending()).toMatchObject({ name: 'PerdureError', code: 'run-not-found', status })
  })

  it("retries after a network failure, an overloaded server and a proxy's error page", async () => {
    const { client, requests, pace } = setUp([
      noNetwork(),
      refusal(503, 'overloaded', { 'retry-after': '9' }),
      new Response('<h1>hello</h1>'),
      stream(block(1, 'run.completed')),
    ])
    const seen = collect(client.subscribe(RUN))
    await pace.advance(250)
    expect(requests).toHaveLength(2)
    await pace.advance(9_499)
    expect(requests).toHaveLength(2)
    await pace.advance(1)
    expect(requests).toHaveLength(3)
    await pace.advance(60_000)

    expect(seen.ids()).toEqual(['e.1'])
  })

  it('requests a new token once after a 401', async () => {
    const token = ({ isRefused }: { readonly isRefused: boolean }) => (isRefused ? 'new' : 'old')
    const renewed = setUp([refusal(401, 'auth-expired'), stream(block(1, 'run.completed'))], { token })
    const refused = setUp([refusal(401, 'auth-expired'), refusal(401, 'auth-invalid')], { token })
    const fixed = setUp([refusal(401, 'auth-expired')])
    const [seen, never, same] = [renewed, refused, fixed].map(({ client }) => collect(client.subscribe(RUN)))
    await renewed.pace.advance(0)

    expect(seen?.ids()).toEqual(['e.1'])
    expect(renewed.requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new'])
    expect(never?.ending()).toMatchObject({ code: 'auth-invalid' })
    expect(same?.ending()).toMatchObject({ code: 'auth-expired' })
  })

  it('reconnects if the stream goes silent', async () => {
    const { client, requests, pace } = setUp([silentStream(), stream(block(1, 'run.completed'))])
    const seen = collect(client.subscribe(RUN))
    await pace.advance(44_999)
    expect(requests).toHaveLength(1)
    await pace.advance(60_000)

    expect(seen.ids()).toEqual(['e.1'])
  })

  it('does not treat a slow consumer as a silent server', async () => {
    const { client, requests, pace } = setUp([stream(block(1), block(2, 'run.completed'))])
    const iterator = client.subscribe(RUN)[Symbol.asyncIterator]()
    await iterator.next()
    await pace.advance(600_000)

    expect(await iterator.next()).toMatchObject({ value: { event: { eventId: 'e.2' } } })
    expect(requests).toHaveLength(1)
  })

  it('ends its subscriptions and leaves no timer when it is closed', async () => {
    const { client, pace } = setUp([silentStream()])
    const seen = collect(client.subscribe(RUN))
    await settle()

    client.close()
    await settle()

    expect(seen.ending()).toBe('ended')
    expect(pace.waiting()).toEqual([])
  })
})
