import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const RUN = '/agents/echo/run'

/** A chunked body without Content-Length. */
function chunked(chunks: readonly string[]): Request {
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk))
      controller.close()
    },
  })
  const headers = { 'Content-Type': 'application/json' }
  return new Request(`${ORIGIN}/v1${RUN}`, { method: 'POST', body, headers, duplex: 'half' })
}

describe('the query', () => {
  it('filters runs by metadata, one member per key', async () => {
    const { app } = createTestApp()
    for (const ticket of ['17', '18']) await app.fetch(post(RUN, { metadata: { ticket } }))
    const list = async (query: string) => (await bodyOf(await app.fetch(get(`/runs?${query}`)))) as { items: unknown[] }

    expect((await list('metadata.ticket=17')).items).toEqual([expect.objectContaining({ metadata: { ticket: '17' } })])
    expect((await list('metadata.ticket=19')).items).toEqual([])
    expect((await list('metadata.ticket=17&metadata.tier=gold')).items).toEqual([])
  })

  it.each([
    ['/runs?metadata.a=1&metadata.b=1&metadata.c=1&metadata.d=1', 'must have at most 3 keys'],
    ['/runs?metadata.a=1&metadata.a=2', 'query.metadata.a: sent more than once'],
    ['/sessions?metadata.a=1&metadata.b=1&metadata.c=1&metadata.d=1', 'must have at most 3 keys'],
    ['/sessions?metadata.=1', 'query.metadata'],
    ['/sessions?userId=', 'query.userId'],
    ['/sessions?agentId=a.b', 'query.agentId: must start with'],
    ['/runs?idempotencyKey=', 'query.idempotencyKey: must be the key as sent'],
    ['/runs?idempotencyKey=a%20b', 'query.idempotencyKey: must be the key as sent'],
    ['/approvals?metadata.a=1', 'query.metadata.a'],
  ])('rejects %s', async (path, message) => {
    const { app } = createTestApp()

    expect(await bodyOf(await app.fetch(get(path)))).toMatchObject({
      error: 'validation-failed',
      message: expect.stringContaining(message),
    })
  })
})

describe('the request body', () => {
  it('defaults to an empty object', async () => {
    const { app } = createTestApp()

    expect(await bodyOf(await app.fetch(post(RUN)))).toMatchObject({ status: 'completed', result: null })
  })

  it('is assembled from its chunks', async () => {
    const { app } = createTestApp()

    expect(await bodyOf(await app.fetch(chunked(['{"inp', 'ut":', '"ä"}'])))).toMatchObject({ result: 'ä' })
  })

  it('is rejected over the limit, with or without Content-Length', async () => {
    const { app } = createTestApp()
    const tooLarge = { status: 413, error: 'body-too-large' }
    const ofLength = (length: number) => `{"input":"${'x'.repeat(length - 12)}"}`

    expect((await app.fetch(post(RUN, ofLength(1_000)))).status).toBe(200)
    expect(await refusalOf(await app.fetch(post(RUN, ofLength(1_001))))).toEqual(tooLarge)
    expect(await refusalOf(await app.fetch(post(RUN, '{}', { 'Content-Length': '1001' })))).toEqual(tooLarge)
    expect(await refusalOf(await app.fetch(chunked(['{"input":"', 'x'.repeat(600), 'x'.repeat(600)])))).toEqual(
      tooLarge,
    )
  })

  it('may declare the charset UTF-8', async () => {
    const { app } = createTestApp()
    const headers = { 'Content-Type': 'application/json; charset=UTF-8', 'Content-Encoding': 'identity' }

    expect((await app.fetch(post(RUN, '{}', headers))).status).toBe(200)
  })

  it.each<Record<string, string>>([
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json; charset=latin1' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Type': '' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  ])('is rejected with headers %j', async (headers) => {
    const { app } = createTestApp()

    expect(await refusalOf(await app.fetch(post(RUN, '{}', headers)))).toEqual({
      status: 415,
      error: 'unsupported-media-type',
    })
  })

  it('is rejected if it is not strict JSON', async () => {
    const { app } = createTestApp()

    expect(await bodyOf(await app.fetch(post(RUN, '{"input":1,"input":2}')))).toMatchObject({
      error: 'invalid-json',
      message: 'duplicate member "input" at character 11',
    })
  })

  it.each(['1e400', '12345678901234567890', '"\\ud800"'])(
    'is rejected if it contains %s, which cannot be represented exactly',
    async (input) => {
      const { app } = createTestApp()

      expect(await bodyOf(await app.fetch(post(RUN, `{"input":${input}}`)))).toMatchObject({
        error: 'invalid-json',
        message: expect.stringMatching(/ at character \d+$/),
      })
    },
  )

  it.each([
    [{ sessionId: '../x' }, 'body.sessionId: '],
    [{ metadata: { team: 7 } }, 'body.metadata.team: '],
    [{ inputs: 1 }, 'body.inputs: unknown member; did you mean input?'],
    [{ text: 'hi' }, 'body.text: unknown member; data for the code belongs in input'],
    [{ constructor: 1 }, 'body.constructor: unknown member'],
    [{ timeoutMs: 0.5 }, 'body.timeoutMs: '],
    [[], 'body: must be an object'],
    [null, 'body: must be an object'],
  ])('is rejected with a message that names the invalid member: %j', async (body, message) => {
    const { app } = createTestApp()

    const refusal = await bodyOf(await app.fetch(post(RUN, body)))

    expect(refusal).toMatchObject({ error: 'validation-failed', message: expect.stringContaining(message) })
  })

  it('is not echoed at length in the message', async () => {
    const { app } = createTestApp()

    const { message } = await bodyOf(await app.fetch(post(RUN, { timeoutMs: 'x'.repeat(900) })))

    expect(String(message).length).toBeLessThanOrEqual(200)
  })
})

describe('the query string', () => {
  it.each([
    ['/runs?limit=0', 'query.limit: '],
    ['/runs?limit=ten', 'query.limit: '],
    ['/runs?order=up', 'query.order: '],
    ['/runs?since=yesterday', 'query.since: '],
    ['/runs?since=2026-02-30T00:00:00.000Z', 'query.since: '],
    ['/runs?stauts=failed', 'query.stauts: unknown member'],
    ['/runs?__proto__=1', 'query.__proto__: unknown member'],
    ['/runs?limit=1&limit=2', 'query.limit: sent more than once'],
    ['/agents/echo?x=1', 'query.x: unknown member'],
    ['/runs?staus=failed', 'query.staus: unknown member; did you mean status?'],
  ])('is rejected if a parameter is invalid, unknown or repeated: %s', async (path, message) => {
    const { app } = createTestApp()

    const refusal = await bodyOf(await app.fetch(get(path)))

    expect(refusal).toMatchObject({ error: 'validation-failed', message: expect.stringContaining(message) })
  })
})
