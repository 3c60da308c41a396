import { createHash, randomBytes } from 'node:crypto'
import { createInMemoryStorage } from '@perdure/in-memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const PART_BYTES = 48 * 1_024

interface Line {
  readonly type: string
  readonly value?: string
  readonly record: { readonly id: string; readonly fileId: string; readonly data: string; readonly sha256?: string }
}

async function start() {
  const server = await createServer({
    config: { auth: { kind: 'none' }, sessions: { createOnInvoke: true } },
    adapters: {
      storage: createInMemoryStorage(),
      logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    },
    agents: [{ id: 'echo', agent: { id: 'echo', run: async () => 'read' } }],
  })
  onTestFinished(() => server.stop({ force: true }))
  await server.start({ listen: false })
  const post = async (path: string, body: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
    const headers = { 'content-type': type, 'idempotency-key': crypto.randomUUID() }
    return server.fetch(new Request(`http://localhost/v1${path}`, { method: 'POST', body, headers }))
  }
  return {
    async upload(bytes: Uint8Array<ArrayBuffer>) {
      const file: unknown = await (await post('/files', bytes, 'application/octet-stream')).json()
      return (file as { readonly id: string }).id
    },
    async show(sessionId: string, ...fileIds: readonly string[]) {
      const mediaType = 'application/octet-stream'
      const content = fileIds.map((id) => ({ type: 'file', mediaType, url: `/v1/files/${id}` }))
      const input = { messages: [{ role: 'user', content }] }
      expect((await post('/agents/echo/run', JSON.stringify({ sessionId, input }))).status).toBe(200)
    },
    exported: async (sessionId: string) => (await post(`/sessions/${sessionId}/export`, '')).text(),
  }
}

describe('the export of a session', () => {
  it('has the contents of the files that the session holds, and no others, in parts that a reader can join', async () => {
    const { upload, show, exported } = await start()
    const contents = [randomBytes(1_000), randomBytes(200_000), randomBytes(0)]
    const ids = [await upload(contents[0]!), await upload(contents[1]!), await upload(contents[2]!)]
    await show('trip', ...ids)
    await show('other', await upload(randomBytes(10)))

    const text = await exported('trip')

    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    const found = new Map(lines.filter(({ type }) => type === 'file').map(({ record }) => [record.id, [] as Buffer[]]))
    for (const { type, record } of lines) {
      if (type !== 'file-part') continue
      const part = Buffer.from(record.data, 'base64')
      expect(part.length).toBeLessThanOrEqual(PART_BYTES)
      found.get(record.fileId)?.push(part)
    }
    expect([...found.keys()].toSorted()).toEqual(ids.toSorted())
    expect(ids.map((id) => Buffer.concat(found.get(id) ?? []))).toEqual(contents)
    const end = text.lastIndexOf('{"type":"checksum"')
    expect(lines.at(-1)?.value).toBe(createHash('sha256').update(text.slice(0, end)).digest('hex'))
  })
})
