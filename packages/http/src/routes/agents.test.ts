import { perdureError } from '@perdure/ports'
import { Agent, AgentState, EventEnvelope, ListedRun, listOf, Run, RunOutcome } from '@perdure/protocol'
import { parse } from 'valibot'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, post, refusalOf } from '../app.fixture.ts'

const SSE = { Accept: 'text/event-stream' }
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('/agents', () => {
  it('lists the agents in pages', async () => {
    const { app } = createTestApp()

    const first = parse(listOf(Agent), await bodyOf(await app.fetch(get('/agents?limit=1&order=asc'))))
    const second = parse(
      listOf(Agent),
      await bodyOf(await app.fetch(get(`/agents?order=asc&cursor=${first.nextCursor}`))),
    )

    expect(first.items.map(({ id }) => id)).toEqual(['echo'])
    expect(second.items.map(({ id }) => id)).toEqual(['hold'])
    expect(second.nextCursor).toBeNull()
  })

  it('returns an agent and its state', async () => {
    const { app } = createTestApp()
    await app.fetch(post('/agents/hold/stream', {}))

    expect(parse(Agent, await bodyOf(await app.fetch(get('/agents/hold'))))).toMatchObject({ concurrency: 'single' })
    expect(parse(AgentState, await bodyOf(await app.fetch(get('/agents/hold/state'))))).toMatchObject({
      running: 1,
      queued: 0,
    })
    expect(await refusalOf(await app.fetch(get('/agents/none')))).toEqual({ status: 404, error: 'agent-not-found' })
  })

  it('runs an agent and answers with its outcome', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(post('/agents/echo/run', { input: { text: 'hi' } }))

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(parse(RunOutcome, await bodyOf(response))).toMatchObject({ status: 'completed', result: { text: 'hi' } })
  })

  it('answers 202 immediately if the client prefers respond-async', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(post('/agents/hold/run', {}, { Prefer: 'respond-async' }))

    expect(response.status).toBe(202)
    expect(response.headers.get('preference-applied')).toBe('respond-async')
    const { links } = parse(RunOutcome, await bodyOf(response))
    expect(response.headers.get('location')).toBe(links.self)
  })

  it('answers 202 when the preferred wait has elapsed', async () => {
    const { app, clock } = createTestApp()
    const answer = app.fetch(post('/agents/hold/run', {}, { Prefer: 'respond-async, wait=5' }))
    await settled()

    clock.advance(5_000)

    expect((await answer).status).toBe(202)
    expect((await answer).headers.get('preference-applied')).toBe('respond-async, wait=5')
  })

  it('answers 200 if the outcome arrives within the preferred wait', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(post('/agents/echo/run', {}, { Prefer: 'wait=5' }))

    expect(response.status).toBe(200)
    expect(response.headers.get('preference-applied')).toBe('wait=5')
  })

  it.each(['/agents/echo/run', '/agents/echo/stream', '/workflows/steps/execute'])(
    'rejects a request to %s with an invalid priority or two start times',
    async (path) => {
      const { app } = createTestApp()
      const rejectionOf = async (body: object) => (await bodyOf(await app.fetch(post(path, body)))).message

      expect(await rejectionOf({ priority: 101 })).toContain('body.priority: ')
      expect(await rejectionOf({ startAt: '2027-01-31T09:00:00Z', delayMs: 1 })).toBe(
        'body: startAt and delayMs exclude each other',
      )
      expect(await rejectionOf({ delayMS: 1 })).toBe('body.delayMS: unknown member; did you mean delayMs?')
      expect(await refusalOf(await app.fetch(post(path, { delayMs: -1 })))).toEqual({
        ...{ status: 400, error: 'validation-failed' },
      })
    },
  )

  it('queues a run until its start time', async () => {
    const { app, clock } = createTestApp()
    const started = await app.fetch(post('/agents/echo/stream', { delayMs: 60_000, priority: 3 }))
    const { runId, status } = parse(RunOutcome, await bodyOf(started))
    const startAt = new Date(clock.now() + 60_000).toISOString()

    expect([started.status, status]).toEqual([202, 'queued'])
    expect(parse(Run, await bodyOf(await app.fetch(get(`/runs/${runId}`))))).toMatchObject({ startAt, priority: 3 })
    const { items } = parse(listOf(ListedRun), await bodyOf(await app.fetch(get('/runs'))))
    expect(items).toEqual([expect.objectContaining({ id: runId, startAt, priority: 3 })])
    const [queued] = parse(
      listOf(EventEnvelope),
      await bodyOf(await app.fetch(get(`/runs/${runId}/events?order=asc`))),
    ).items
    expect(queued).toMatchObject({ type: 'run.queued', payload: { startAt } })
  })

  it('answers agent-busy with Retry-After', async () => {
    const { app } = createTestApp()
    await app.fetch(post('/agents/hold/stream', {}))

    const response = await app.fetch(post('/agents/hold/run', {}))

    expect(response.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(response)).toEqual({ status: 409, error: 'agent-busy' })
  })

  it('starts a run and returns links to follow it', async () => {
    const { app, streams } = createTestApp()

    const response = await app.fetch(post('/agents/echo/stream', {}))

    expect(response.status).toBe(202)
    expect(parse(RunOutcome, await bodyOf(response)).subject).toMatch(/^agent:echo\/runs\/run_\w+\/events$/)
    expect(streams).toEqual([])
  })

  it('starts a run and streams its events if the client accepts a stream', async () => {
    const { app, streams } = createTestApp()

    const response = await app.fetch(post('/agents/echo/stream', {}, SSE))

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
    const runId = response.headers.get('location')?.split('/').at(-1)
    expect(streams).toEqual([{ runId, visibility: 'every-row', lastEventId: undefined }])
  })

  it('returns the links of the accepted run if no stream is available', async () => {
    const { app } = createTestApp({
      deps: { openRunStream: () => Promise.reject(perdureError('overloaded', { retryAfter: 1_000 })) },
    })

    const response = await app.fetch(post('/agents/echo/stream', {}, SSE))

    expect(response.status).toBe(202)
    expect(parse(RunOutcome, await bodyOf(response)).runId).toMatch(/^run_/)
  })

  it('streams the run of the first request when a client repeats the streaming start', async () => {
    const { app, streams } = createTestApp()
    const start = (headers: Record<string, string>) =>
      app.fetch(post('/agents/echo/stream', { input: 1 }, { 'Idempotency-Key': 'k', ...headers }))
    const { runId } = await bodyOf(await start({}))

    const response = await start(SSE)

    expect(response.headers.get('idempotency-replayed')).toBe('true')
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(streams).toEqual([{ runId, visibility: 'every-row', lastEventId: undefined }])
    expect((await start({})).status).toBe(202)
  })

  it('aborts every run of an agent', async () => {
    const { app } = createTestApp()
    const { runId } = await bodyOf(await app.fetch(post('/agents/hold/stream', {})))

    const response = await app.fetch(post('/agents/hold/abort', { reason: 'enough' }))

    expect(response.status).toBe(202)
    expect(await bodyOf(response)).toEqual({ aborted: [runId] })
  })
})
