import { AppError } from '@perdure/ports'
import { Agent, AgentState, listOf, RunOutcome } from '@perdure/protocol'
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
      deps: { openRunStream: () => Promise.reject(new AppError('overloaded', { retryAfterMs: 1_000 })) },
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
