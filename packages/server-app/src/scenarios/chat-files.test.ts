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

    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('must be one of reject')])
    expect(await (await call('/files')).json()).toMatchObject({ items: [] })
  })

  it('is stored once, however often its request is refused or repeated', async () => {
    const { send, call, post } = await serverWith(async () => 'seen')
    const photo = { type: 'file', mediaType: 'image/png', filename: 'b.png', url: dataUrl(PHOTO, 'image/png') }
    const missing = { type: 'file', mediaType: 'image/png', url: '/v1/files/file_00000000000000000000000000' }
    const stored = async () => ((await (await call('/files')).json()) as { items: readonly unknown[] }).items
    for (let refused = 0; refused < 2; refused++) expect((await send(photo, missing)).status).toBe(404)
    expect(await stored()).toHaveLength(1)

    for (let repeated = 0; repeated < 2; repeated++) expect((await send(photo)).status).toBe(200)
    expect(await stored()).toHaveLength(1)

    const source = { type: 'data', mimeType: 'image/png', value: photo.url.split(',')[1] }
    const content = [{ type: 'image', source }]
    const agUi = { threadId: 't', runId: 'r1', messages: [{ id: 'm1', role: 'user', content }] }
    for (let repeated = 0; repeated < 2; repeated++) await (await post('/agents/see/ag-ui', agUi)).text()
    const image = { type: 'input_image', image_url: photo.url }
    const openai = { model: 'see', input: [{ role: 'user', content: [image] }] }
    for (let repeated = 0; repeated < 2; repeated++) {
      expect((await post('/openai/responses', openai)).status).toBe(200)
    }
    expect(await stored()).toEqual([
      expect.not.objectContaining({ name: 'b.png' }),
      expect.objectContaining({ name: 'b.png' }),
    ])

    expect((await send({ ...photo, filename: 'c.png' })).status).toBe(409)
    expect(await stored()).toHaveLength(2)
  })

  it('is refused with all others when there are too many, before any is stored', async () => {
    const { call, post } = await serverWith(async () => 'seen')
    const url = dataUrl(PHOTO.subarray(0, 100), 'image/png')
    const send = (parts: readonly object[]) =>
      post('/agents/see/chat', { id: 'c', trigger: 'submit-message', messages: [{ id: 'm', role: 'user', parts }] })
    const files = (count: number) =>
      Array.from({ length: count }, () => ({ type: 'file', mediaType: 'image/png', url }))
    const texts = (count: number) => Array.from({ length: count }, () => ({ type: 'text', text: 'a' }))
    const images = (count: number) => Array.from({ length: count }, () => ({ type: 'input_image', image_url: url }))
    const openai = (content: readonly object[]) =>
      post('/openai/responses', { model: 'see', input: [{ role: 'user', content }] })
    const source = { type: 'data', mimeType: 'image/png', value: url.split(',')[1] }
    const image = { type: 'image', source }
    const agUi = (count: number) =>
      post('/agents/see/ag-ui', {
        ...{ threadId: 't', runId: 'r1' },
        messages: [{ id: 'm', role: 'user', content: Array.from({ length: count }, () => image) }],
      })
    for (const refused of [await send(files(33)), await openai(images(33)), await agUi(33)]) {
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('33 files')])
    }
    const refused = await send(texts(101))
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('101 parts')])
    expect(await (await call('/files')).json()).toMatchObject({ items: [] })

    for (const taken of [await send([...files(32), ...texts(68)]), await openai(images(32)), await agUi(32)]) {
      expect(taken.status).toBe(200)
    }
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
