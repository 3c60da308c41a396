import { beforeEach, describe, expect, it } from 'vitest'
import { createTestApp, ORIGIN, post, refusalOf } from '../app.fixture.ts'

interface Received {
  readonly status: number
  readonly isReplayed: boolean
  readonly body: { readonly id: string; readonly metadata?: object }
}

let server: ReturnType<typeof createTestApp>
beforeEach(() => {
  server = createTestApp()
})

const receive = async (request: Request): Promise<Received> => {
  const response = await server.app.fetch(request)
  const isReplayed = response.headers.get('idempotency-replayed') === 'true'
  return { status: response.status, isReplayed, body: (await response.json()) as Received['body'] }
}

const send = (path: string, body: unknown, key: string) =>
  receive(post(`/openai${path}`, body, { 'idempotency-key': key }))

const remove = (path: string, key: string) =>
  receive(new Request(`${ORIGIN}/v1/openai${path}`, { method: 'DELETE', headers: { 'idempotency-key': key } }))

describe('a repeated request with one Idempotency-Key', () => {
  it('creates one conversation, and gets it again', async () => {
    const create = (key: string) => send('/conversations', { metadata: { topic: 'tea' } }, key)
    const first = await create('k1')

    expect(first).toMatchObject({ status: 200, body: { object: 'conversation', metadata: { topic: 'tea' } } })
    expect(await create('k1')).toEqual({ ...first, isReplayed: true })
    expect((await create('k2')).body.id).not.toBe(first.body.id)
  })

  it('updates a conversation once', async () => {
    const { id } = (await send('/conversations', {}, 'k0')).body
    const update = (topic: string, key: string) => send(`/conversations/${id}`, { metadata: { topic } }, key)
    const first = await update('tea', 'k1')
    await update('coffee', 'k2')

    expect(first).toMatchObject({ status: 200, isReplayed: false, body: { id, metadata: { topic: 'tea' } } })
    expect(await update('tea', 'k1')).toEqual({ ...first, isReplayed: true })
    const now = await receive(new Request(`${ORIGIN}/v1/openai/conversations/${id}`))
    expect(now.body.metadata).toEqual({ topic: 'coffee' })
    const conflict = post(`/openai/conversations/${id}`, { metadata: {} }, { 'idempotency-key': 'k1' })
    expect(await refusalOf(await server.app.fetch(conflict))).toEqual({ status: 409, error: 'idempotency-conflict' })
  })

  it('deletes a conversation once, and the answers that contain its content', async () => {
    const { id } = (await send('/conversations', {}, 'k0')).body
    const update = () => send(`/conversations/${id}`, { metadata: { topic: 'tea' } }, 'k1')
    await update()
    const first = await remove(`/conversations/${id}`, 'k2')

    expect(first).toMatchObject({ status: 200, isReplayed: false, body: { id, deleted: true } })
    expect(await remove(`/conversations/${id}`, 'k2')).toEqual({ ...first, isReplayed: true })
    expect((await remove(`/conversations/${id}`, 'k3')).status).toBe(404)
    expect(await update()).toMatchObject({ status: 404 })
  })

  it('cancels a response once, and reads it again', async () => {
    const { body: response } = await send('/responses', { model: 'hold', input: 'x', background: true }, 'k0')
    const cancel = (key: string, body: unknown = {}) => send(`/responses/${response.id}/cancel`, body, key)
    const first = await cancel('k1')

    expect(first).toMatchObject({ status: 200, isReplayed: false, body: { id: response.id, status: 'cancelled' } })
    expect(await cancel('k1')).toEqual({ ...first, isReplayed: true })
    expect(await cancel('k2')).toEqual(first)
  })
})
