import { EventEnvelope, ListedRun, listOf, Run, RunOutcome } from '@perdure/protocol'
import { parse } from 'valibot'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, post, refusalOf } from '../app.fixture.ts'

const SSE = { Accept: 'text/event-stream' }

async function createAppWithRun() {
  const test = createTestApp()
  const { runId } = await bodyOf(await test.app.fetch(post('/agents/echo/run', { input: 'hi', metadata: { a: 'b' } })))
  return { ...test, runId: String(runId) }
}

describe('/runs', () => {
  it('leaves input and result out of a list unless include names them, and refuses other names', async () => {
    const { app } = await createAppWithRun()
    const first = async (query: string) =>
      ((await bodyOf(await app.fetch(get(`/runs${query}`)))).items as readonly unknown[])[0]

    expect(await first('')).not.toHaveProperty('input')
    expect(await first('')).not.toHaveProperty('result')
    expect(await first('?include=input')).toMatchObject({ input: 'hi' })
    expect(await first('?include=input')).not.toHaveProperty('result')
    expect(await first('?include=input,result')).toMatchObject({ input: 'hi', result: 'hi' })
    const refused = await app.fetch(get('/runs?include=input,metadata'))
    expect([refused.status, (await bodyOf(refused)).message]).toEqual([400, expect.stringContaining('metadata')])
  })

  it('lists runs with filters, in pages', async () => {
    const { app, runId } = await createAppWithRun()
    await app.fetch(post('/agents/hold/stream', {}))
    const list = async (query: string) => parse(listOf(ListedRun), await bodyOf(await app.fetch(get(`/runs${query}`))))

    expect((await list('')).items.map(({ agentId }) => agentId)).toEqual(['hold', 'echo'])
    expect((await list('?status=completed')).items.map(({ id }) => id)).toEqual([runId])
    expect((await list('?limit=1')).nextCursor).toEqual(expect.any(String))
    expect((await list('?since=2999-01-01T00:00:00.000Z')).items).toEqual([])
  })

  it('returns a run and its outcome', async () => {
    const { app, runId } = await createAppWithRun()

    expect(parse(Run, await bodyOf(await app.fetch(get(`/runs/${runId}`))))).toMatchObject({
      agentId: 'echo',
      input: 'hi',
      result: 'hi',
      metadata: { a: 'b' },
    })
    expect(parse(RunOutcome, await bodyOf(await app.fetch(get(`/runs/${runId}/state`))))).toMatchObject({
      runId,
      status: 'completed',
    })
    expect(await refusalOf(await app.fetch(get('/runs/run_none')))).toEqual({ status: 404, error: 'run-not-found' })
  })

  it('returns the events of a run as a page, oldest first', async () => {
    const { app, runId, streams } = await createAppWithRun()

    const page = parse(listOf(EventEnvelope), await bodyOf(await app.fetch(get(`/runs/${runId}/events?limit=2`))))

    expect(page.items.map(({ type }) => type)).toEqual(['run.started', 'run.completed'])
    expect(streams).toEqual([])
  })

  it("streams the events of a run from the client's cursor", async () => {
    const { app, runId, streams } = await createAppWithRun()

    const response = await app.fetch(get(`/runs/${runId}/events`, SSE))
    await app.fetch(get(`/runs/${runId}/events?lastEventId=`, SSE))
    await app.fetch(get(`/runs/${runId}/events?lastEventId=e1.1`, SSE))
    await app.fetch(get(`/runs/${runId}/events?lastEventId=e1.1`, { ...SSE, 'Last-Event-ID': 'e1.2' }))

    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.has('x-request-id')).toBe(true)
    expect(streams).toEqual([
      { runId, visibility: 'every-row', lastEventId: undefined },
      { runId, visibility: 'every-row', lastEventId: undefined },
      { runId, visibility: 'every-row', lastEventId: 'e1.1' },
      { runId, visibility: 'every-row', lastEventId: 'e1.2' },
    ])
  })

  it('aborts a run only once', async () => {
    const { app, runId } = await createAppWithRun()
    const held = await bodyOf(await app.fetch(post('/agents/hold/stream', {})))
    const abort = (id: unknown) => app.fetch(post(`/runs/${id}/abort`, { reason: 'enough' }))

    expect(parse(RunOutcome, await bodyOf(await abort(held.runId)))).toMatchObject({ status: 'aborted' })
    expect((await abort(held.runId)).status).toBe(200)
    expect(await refusalOf(await abort(runId))).toEqual({ status: 409, error: 'run-not-active' })
  })
})
