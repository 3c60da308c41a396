import type { Principal } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { aSession, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, ORIGIN, refusalOf } from '../app.fixture.ts'

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255, 254, 13, 10])
const PHOTO = Uint8Array.from({ length: 150_000 }, (_, index) => PNG[index] ?? (index * 31) % 256)

interface Upload {
  readonly type?: string
  readonly query?: string
  readonly headers?: Record<string, string>
}

const upload = (
  content: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  { type = 'image/png', query = '', headers = {} }: Upload = {},
) =>
  new Request(`${ORIGIN}/v1/files${query}`, {
    method: 'POST',
    body: content,
    duplex: 'half',
    headers: { 'Content-Type': type, ...headers },
  })

function setUp(scopes: readonly string[] = ['admin:*']) {
  const on = { storage: createInMemoryStorage({ epoch: 'e1' }), clock: createManualClock() }
  const as = (subject: string) =>
    createTestApp({
      on,
      config: { maxFileBytes: 200_000 },
      deps: { authenticate: async (): Promise<Principal> => ({ subject, scopes }) },
    }).app
  return { ...on, as, app: as('alice') }
}

const remove = (path: string, headers: Record<string, string> = {}) =>
  new Request(`${ORIGIN}/v1${path}`, { method: 'DELETE', headers })

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())

describe('POST /files', () => {
  it.each([
    ['beside the record', PNG],
    ['as a blob', PHOTO],
  ])('stores a content %s and returns it byte by byte', async (_, content) => {
    const { app } = setUp()
    const response = await app.fetch(upload(content, { query: '?filename=a%20photo.png' }))
    const file = await bodyOf(response)

    expect(response.status).toBe(201)
    expect(file).toMatchObject({ owner: 'alice', name: 'a photo.png', mediaType: 'image/png', size: content.length })
    expect(response.headers.get('location')).toBe(`/v1/files/${file.id}`)
    const read = await app.fetch(get(`/files/${file.id}`))
    expect(await bytesOf(read)).toEqual(content)
    expect(await bodyOf(await app.fetch(get(`/files/${file.id}/metadata`)))).toEqual(file)
    expect(await bodyOf(await app.fetch(get('/files')))).toEqual({ items: [file], nextCursor: null })
  })

  it('stores one file for a repeated key, and refuses the key with another content', async () => {
    const { app } = setUp()
    const headers = { 'Idempotency-Key': 'k' }
    const first = await app.fetch(upload(PHOTO, { headers }))
    const again = await app.fetch(upload(PHOTO, { headers }))

    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await bodyOf(again)).toEqual(await bodyOf(first))
    expect(await refusalOf(await app.fetch(upload(PNG, { headers })))).toMatchObject({ error: 'idempotency-conflict' })
    expect((await bodyOf(await app.fetch(get('/files')))).items).toHaveLength(1)
  })

  it.each([
    ['image/jpeg', PNG, 415, 'send Content-Type: image/png'],
    [
      'image/png',
      new TextEncoder().encode('<svg onload=alert(1)>'),
      415,
      'send Content-Type: application/octet-stream',
    ],
    ['text/html', PNG, 415, 'send Content-Type: image/png'],
    ['no type', PNG, 400, 'send a media type such as image/png'],
  ])('refuses a content that is not %s and says what to send', async (type, content, status, hint) => {
    const { app } = setUp()
    const response = await app.fetch(upload(content, { type }))

    expect([response.status, (await bodyOf(response)).hint]).toEqual([status, hint])
    expect((await bodyOf(await app.fetch(get('/files')))).items).toEqual([])
  })

  it('takes the type of a content without a declared one from its first bytes', async () => {
    const { app } = setUp()

    for (const type of ['application/octet-stream', '']) {
      expect(await bodyOf(await app.fetch(upload(PNG, { type })))).toMatchObject({ mediaType: 'image/png' })
    }
  })

  it('refuses a content above the limit, announced or not, and keeps nothing of it', async () => {
    const { app } = setUp()
    const stream = new Blob([new Uint8Array(200_001)]).stream()
    const streamed = new Request(`${ORIGIN}/v1/files`, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)

    for (const request of [upload(new Uint8Array(200_001), { type: 'text/plain' }), streamed]) {
      const response = await app.fetch(request)
      expect(response.status).toBe(413)
      expect(await bodyOf(response)).toMatchObject({
        error: 'body-too-large',
        hint: expect.stringContaining('files.maxBytes'),
      })
    }
    expect((await bodyOf(await app.fetch(get('/files')))).items).toEqual([])
  })

  it('refuses a file that would exceed the quota of its owner, and accepts one of another owner', async () => {
    const { as } = setUp()
    for (const _ of [1, 2, 3]) expect((await as('alice').fetch(upload(PHOTO))).status).toBe(201)

    const refused = await as('alice').fetch(upload(PHOTO))
    expect(refused.status).toBe(409)
    expect(await bodyOf(refused)).toMatchObject({
      error: 'file-quota-exceeded',
      hint: expect.stringContaining('files.maxBytesPerOwner'),
    })
    expect((await as('bob').fetch(upload(PHOTO))).status).toBe(201)
  })

  it('does not count uploads that were refused or cut off: nothing of them is stored', async () => {
    const { as } = setUp()
    const alice = as('alice')
    const cutOff = () =>
      upload(
        new ReadableStream({
          start(controller) {
            controller.enqueue(PHOTO)
            setTimeout(() => controller.error(new Error('cut off')), 5)
          },
        }),
      )
    for (let count = 0; count < 5; count++) expect((await alice.fetch(cutOff())).status).toBeGreaterThanOrEqual(400)
    const parallel = await Promise.all(Array.from({ length: 10 }, async () => alice.fetch(upload(PHOTO))))

    const stored = parallel.filter(({ status }) => status === 201).length
    expect(stored).toBeGreaterThan(0)
    for (let count = stored; count < 3; count++) expect((await alice.fetch(upload(PHOTO))).status).toBe(201)
    expect((await alice.fetch(upload(PHOTO))).status).toBe(409)
  })

  it.each(['a/b', '..\\x', 'a%00b', 'x'.repeat(256), ''])('refuses the name %j', async (name) => {
    const { app } = setUp()

    expect((await app.fetch(upload(PNG, { query: `?filename=${name}` }))).status).toBe(400)
  })
})

describe('GET /files/:id', () => {
  async function stored(content: Uint8Array<ArrayBuffer>, options?: Upload) {
    const made = setUp()
    const { id } = await bodyOf(await made.app.fetch(upload(content, options)))
    const read = (headers: Record<string, string> = {}) => made.app.fetch(get(`/files/${id}`, headers))
    return { ...made, id, read }
  }

  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=149990-', 149_990, 150_000],
    ['bytes=-5', 149_995, 150_000],
    ['bytes=70000-999999', 70_000, 150_000],
  ])('returns the range %s', async (range, start, end) => {
    const { read } = await stored(PHOTO)
    const response = await read({ Range: range })

    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/150000`)
    expect(response.headers.get('content-length')).toBe(String(end - start))
    expect(await bytesOf(response)).toEqual(PHOTO.slice(start, end))
  })

  it.each(['bytes=0-1,3-4', 'bytes=9-1', 'lines=1-2', 'bytes=-'])('ignores the range %s', async (range) => {
    const { read } = await stored(PHOTO)
    const response = await read({ Range: range })

    expect([response.status, (await bytesOf(response)).length]).toEqual([200, 150_000])
  })

  it('refuses a range beyond the end of the file, and names its size', async () => {
    const { read } = await stored(PNG)

    for (const range of [`bytes=${PNG.length}-`, 'bytes=-0']) {
      const response = await read({ Range: range })
      expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${PNG.length}`])
    }
  })

  it('answers 304 to a reader that has the content, and ignores the range of an outdated copy', async () => {
    const { read } = await stored(PNG)
    const etag = (await read()).headers.get('etag') ?? ''

    expect((await read({ 'If-None-Match': etag })).status).toBe(304)
    expect((await read({ Range: 'bytes=0-1', 'If-Range': etag })).status).toBe(206)
    expect((await read({ Range: 'bytes=0-1', 'If-Range': '"other"' })).status).toBe(200)
  })

  it.each([
    ['image/png', PNG, 'inline'],
    ['application/pdf', new TextEncoder().encode('%PDF-1.7'), 'inline'],
    ['text/html', new TextEncoder().encode('<script>alert(1)</script>'), 'attachment'],
    ['image/svg+xml', new TextEncoder().encode('<svg onload=alert(1)/>'), 'attachment'],
  ])('lets no browser execute %s', async (type, content, kind) => {
    const { read } = await stored(content, { type, query: '?filename=Z%C3%BCrich%20%22x%22.png' })
    const { headers } = await read()

    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain('sandbox')
    expect(headers.get('content-disposition')).toBe(
      `${kind}; filename="Z_rich _x_.png"; filename*=UTF-8''Z%C3%BCrich%20%22x%22.png`,
    )
  })

  it('answers HEAD with the headers alone', async () => {
    const { app, id } = await stored(PHOTO)
    const response = await app.fetch(new Request(`${ORIGIN}/v1/files/${id}`, { method: 'HEAD' }))

    expect([response.headers.get('content-length'), (await bytesOf(response)).length]).toEqual(['150000', 0])
  })

  it('answers 404 to another owner, as for a file that does not exist', async () => {
    const { as } = setUp(['files:read:own', 'files:write:own'])
    const { id } = await bodyOf(await as('alice').fetch(upload(PNG)))
    const ask = async (request: Request) => {
      const response = await as('bob').fetch(request)
      return [response.status, await response.text()]
    }
    const header = { 'X-Request-Id': 'r' }
    const missing = await ask(get('/files/file_none', header))

    expect(missing[0]).toBe(404)
    expect(await ask(get(`/files/${id}`, header))).toEqual(missing)
    expect(await ask(get(`/files/${id}/metadata`, header))).toEqual(missing)
    expect(await ask(remove(`/files/${id}`, header))).toEqual(missing)
    expect((await bodyOf(await as('bob').fetch(get('/files')))).items).toEqual([])
    expect((await as('alice').fetch(get(`/files/${id}`))).status).toBe(200)
  })
})

describe('DELETE /files/:id', () => {
  it('deletes an upload, and refuses a file that a session holds', async () => {
    const { app, storage } = setUp()
    const upload1 = await bodyOf(await app.fetch(upload(PNG)))
    const upload2 = await bodyOf(await app.fetch(upload(PNG)))
    await storage.unitOfWork.commit([
      { type: 'session.insert', session: aSession({ id: 'chat' }) },
      { type: 'file.hold', sessionId: 'chat', ids: [String(upload2.id)], owner: 'alice' },
    ])

    expect((await app.fetch(remove(`/files/${upload1.id}`))).status).toBe(204)
    const refused = await app.fetch(remove(`/files/${upload2.id}`))
    expect(await bodyOf(refused)).toMatchObject({ error: 'file-in-use', hint: expect.stringContaining('chat') })
    expect((await bodyOf(await app.fetch(get('/files?sessionId=chat')))).items).toMatchObject([{ id: upload2.id }])
    expect((await app.fetch(remove('/sessions/chat'))).status).toBe(204)
    expect((await bodyOf(await app.fetch(get('/files')))).items).toEqual([])
  })
})
