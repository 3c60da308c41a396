import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunContext } from '@perdure/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const PHOTO = Uint8Array.from({ length: 2_000_000 }, (_, index) =>
  index < 8 ? ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a][index] ?? 0) : (index * 31) % 256,
)
const dataUrl = (bytes: Uint8Array, type: string) => `data:${type};base64,${Buffer.from(bytes).toString('base64')}`

interface ShownPart {
  readonly type: string
  readonly url?: string
  readonly mediaType?: string
  readonly filename?: string
}

async function serverWith(run: (input: unknown, ctx: RunContext) => Promise<unknown>) {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-chat-files-'))
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const server = await createServer({
    config: { auth: { kind: 'none' }, storage: { path: join(folder, 'data.db') } },
    adapters: { logger: quiet },
    agents: [{ id: 'see', description: 'Looks at files.', agent: { id: 'see', run } }],
  })
  await server.start({ listen: false })
  onTestFinished(async () => void (await server.stop({ force: true })))
  const call = (path: string, init: RequestInit = {}) => server.fetch(new Request(`http://localhost/v1${path}`, init))
  const post = (path: string, body: object) =>
    call(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  return {
    ...{ folder, call, post },
    send: (...parts: readonly object[]) =>
      post('/agents/see/chat', {
        ...{ id: 'chat-1', trigger: 'submit-message' },
        messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Look' }, ...parts] }],
      }),
    async shown(): Promise<readonly ShownPart[]> {
      const messages = (await (await call('/agents/see/chat/chat-1/messages')).json()) as ReadonlyArray<{
        readonly parts: readonly ShownPart[]
      }>
      return messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'file')
    },
    bytesAt: async (url: string | undefined) =>
      new Uint8Array(await (await server.fetch(new Request(`http://localhost${url}`))).arrayBuffer()),
  }
}

describe('a photo in a chat message', () => {
  it('is stored as a file, which the page and the agent read byte by byte, and goes with the session', async () => {
    const seen: unknown[] = []
    const { folder, send, shown, bytesAt, call } = await serverWith(async (_, ctx) => {
      const [message] = (await ctx.session?.messages()) ?? []
      const part = message?.parts.find(({ type }) => type === 'file')
      const bytes = part?.type === 'file' ? await ctx.files.read(part.url) : new Uint8Array()
      seen.push([ctx.sessionId, Buffer.compare(bytes, PHOTO)])
      return 'seen'
    })
    const response = await send({
      type: 'file',
      mediaType: 'image/png',
      filename: 'a/b.png',
      url: dataUrl(PHOTO, 'image/png'),
    })
    await response.text()

    expect(response.status).toBe(200)
    const [part, ...others] = await shown()
    expect(part).toEqual({
      ...{ type: 'file', mediaType: 'image/png', filename: 'a/b.png' },
      url: expect.stringMatching(/^\/v1\/files\/file_[0-9A-Z]{26}$/),
    })
    expect(others).toEqual([])
    expect(Buffer.compare(await bytesAt(part?.url), PHOTO)).toBe(0)
    const [[sessionId, difference]] = seen as [[string, number]]
    expect(difference).toBe(0)
    expect(readdirSync(join(folder, 'files')).filter((name) => name !== 'parts')).toHaveLength(1)

    expect((await call(`/sessions/${sessionId}`, { method: 'DELETE' })).status).toBe(204)
    expect((await call(part?.url?.replace('/v1', '') ?? '')).status).toBe(404)
  })

  it('is not stored when the request is refused because of its onBusy', async () => {
    const { post, call } = await serverWith(async () => 'seen')
    const part = { type: 'file', mediaType: 'image/png', url: dataUrl(PHOTO, 'image/png') }
    const message = { id: 'm1', role: 'user', metadata: { onBusy: 'halt' }, parts: [part] }
    const response = await post('/agents/see/chat', { id: 'c', trigger: 'submit-message', messages: [message] })

    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('must be one of queue')])
    expect(await (await call('/files')).json()).toMatchObject({ items: [] })
  })

  it('may be uploaded first, and is refused if it is not a file of the caller', async () => {
    const { send, call, shown } = await serverWith(async () => 'seen')
    const stored = (await (
      await call('/files', { method: 'POST', body: PHOTO, headers: { 'content-type': 'image/png' } })
    ).json()) as { readonly id: string }
    const part = { type: 'file', mediaType: 'image/png', url: `/v1/files/${stored.id}` }

    expect((await send({ ...part, url: '/v1/files/file_00000000000000000000000000' })).status).toBe(404)
    expect((await send(part)).status).toBe(200)
    expect(await shown()).toEqual([part])
    expect((await call(`/files/${stored.id}`, { method: 'DELETE' })).status).toBe(409)
  })

  it('is refused with a hint when its URL is malformed', async () => {
    const { send } = await serverWith(async () => 'seen')
    const response = await send({ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,?' })

    expect(response.status).toBe(400)
    expect(await response.text()).toContain('the URL of a file part is not a valid data: URL')
  })
})

describe('ctx.file', () => {
  it('stores bytes once, also over a re-execution, and shows them as a part of the answer', async () => {
    let executions = 0
    const { send, shown, bytesAt, call } = await serverWith(async (_, ctx) => {
      executions += 1
      await ctx.file({ mediaType: 'image/png', name: 'chart.png', data: PHOTO })
      await ctx.sleep('pause', 50)
      return 'drawn'
    })
    await (await send()).text()

    await expect.poll(async () => (await shown()).length, { timeout: 5_000 }).toBe(1)
    const [part] = await shown()
    expect(part).toMatchObject({ mediaType: 'image/png' })
    expect(Buffer.compare(await bytesAt(part?.url), PHOTO)).toBe(0)
    const { items } = (await (await call('/files')).json()) as { readonly items: readonly unknown[] }
    expect([executions, items.length]).toEqual([2, 1])
  })
})
