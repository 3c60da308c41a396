import { OPERATIONS } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, ORIGIN } from '../app.fixture.ts'
import { TEST_CONSOLE } from '../console/console-data.fixture.ts'
import { toRequest } from '../operation-request.fixture.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const asset = (type: string) => ({ type, body: bytes('whole'), brotli: bytes('br'), gzip: bytes('gz') })
const ASSETS = new Map([
  ['index.html', asset('text/html; charset=utf-8')],
  ['console-1.js', asset('text/javascript; charset=utf-8')],
  ['icon-1.svg', asset('image/svg+xml')],
])

/** Every path that answers GET with 200: the operations, the pages and files of the console, and a stored file. */
async function readers() {
  const { app } = createTestApp({ deps: { consoleData: { ...TEST_CONSOLE, assets: ASSETS } } })
  const upload = { method: 'POST', body: 'hello', headers: { 'Content-Type': 'text/plain' } }
  const { id } = await bodyOf(await app.fetch(new Request(`${ORIGIN}/v1/files`, upload)))
  const pages = ['', '/', ...[...ASSETS.keys()].map((name) => `/${name}`)].map((path) => `${ORIGIN}/console${path}`)
  const reads = OPERATIONS.filter(({ method }) => method === 'GET').map((one) => toRequest(one, { id: String(id) }).url)
  const readable: ((headers?: Record<string, string>) => Promise<Response>)[] = []
  const paths: string[] = []
  for (const url of [...pages, ...reads]) {
    const read = async (headers: Record<string, string> = {}) => {
      const aborted = new AbortController()
      const response = await app.fetch(new Request(url, { headers, signal: aborted.signal }))
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) aborted.abort()
      return response
    }
    const response = await read()
    await response.body?.cancel()
    if (response.status !== 200) continue
    readable.push(read)
    paths.push(new URL(url).pathname)
  }
  return { readable, paths }
}

/** Whether the client accepts the encoding. */
const ACCEPTED: ReadonlyArray<readonly [header: string, accepts: readonly string[]]> = [
  ['', []],
  ['br', ['br']],
  ['gzip, deflate, br', ['br', 'gzip']],
  ['gzip;q=0.5', ['gzip']],
  ['br;q=0', []],
  ['br;q=0, gzip;q=0.000', []],
  ['br;q=0, gzip', ['gzip']],
  ['x-br, brotli', []],
  ['*;q=0', []],
  ['BR ; Q=1', ['br']],
]

describe('the headers for caches', () => {
  it('let no shared cache keep what it must not, and name what an answer varies by', async () => {
    const { readable, paths } = await readers()
    expect(paths).toEqual(expect.arrayContaining(['/console/', '/console/console-1.js', '/v1/docs', '/v1/health']))
    for (const [at, read] of readable.entries()) {
      const { headers } = await read()
      const control = headers.get('cache-control') ?? ''
      const mayBeKept = !/\b(?:no-store|no-cache)\b/.test(control)
      expect(!mayBeKept || headers.get('etag') !== null, `${paths[at]}: ${control}`).toBe(true)
      expect(!mayBeKept || !paths[at]?.startsWith('/v1/'), `${paths[at]}: ${control}`).toBe(true)
    }
  })

  it('name the encoding wherever it depends on the request, and send none that the client refuses', async () => {
    const { readable, paths } = await readers()
    const encoded = new Set<string>()
    for (const [at, read] of readable.entries()) {
      const answers = await Promise.all(ACCEPTED.map(([header]) => read({ 'Accept-Encoding': header })))
      const varies = answers.some(({ headers }) => headers.has('content-encoding'))
      for (const [nth, { headers }] of answers.entries()) {
        const [header, accepts] = ACCEPTED[nth] ?? ['', []]
        const encoding = headers.get('content-encoding')
        expect(encoding === null || accepts.includes(encoding), `${paths[at]} to ${header}: ${encoding}`).toBe(true)
        if (varies) expect(headers.get('vary')?.split(', '), paths[at]).toContain('Accept-Encoding')
      }
      if (varies) encoded.add(paths[at] ?? '')
      const tags = new Map(answers.map(({ headers }) => [headers.get('content-encoding'), headers.get('etag')]))
      if (varies) expect(new Set(tags.values()).size, paths[at]).toBe(tags.size)
    }
    expect([...encoded].sort()).toEqual(['/console/console-1.js', '/console/icon-1.svg'])
  })

  it('answer 304 to a client that has the content, also through a proxy that has weakened its tag', async () => {
    const { readable, paths } = await readers()
    const tagged: string[] = []
    for (const [at, read] of readable.entries()) {
      const first = await read({ 'Accept-Encoding': 'br' })
      const tag = first.headers.get('etag')
      if (tag === null) continue
      tagged.push(paths[at] ?? '')
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag}`, '*']) {
        const again = await read({ 'Accept-Encoding': 'br', 'If-None-Match': known })
        expect([again.status, await again.text()], `${paths[at]} with ${known}`).toEqual([304, ''])
        for (const name of ['etag', 'vary', 'cache-control']) {
          expect(again.headers.get(name), `${paths[at]}: ${name}`).toBe(first.headers.get(name))
        }
      }
      expect((await read({ 'If-None-Match': '"other"' })).status).toBe(200)
    }
    expect(tagged).toEqual(expect.arrayContaining(['/console/console-1.js', '/console/icon-1.svg']))
    expect(tagged.some((path) => path.startsWith('/v1/files/'))).toBe(true)
  })
})
