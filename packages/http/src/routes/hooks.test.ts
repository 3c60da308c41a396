import { describe, expect, it } from 'vitest'
import { bearer, createTestApp, ORIGIN, post, refusalOf } from '../app.fixture.ts'

const SIGNED = { 'x-signature': 'secret', 'x-delivery': 'd-1' }

describe('POST /hooks/:hookId', () => {
  it('accepts a signed request without a token, answers an empty text, and answers a repetition in the same way', async () => {
    const { app, storage } = createTestApp()
    for (let attempt = 0; attempt < 2; attempt++) {
      const response = await app.fetch(post('/hooks/shop', { order: 7 }, SIGNED))
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
        ...[200, 'text/plain; charset=utf-8', ''],
      ])
    }
    const { items } = await storage.hookDeliveries.list({ hookId: 'shop' }, { limit: 9, order: 'asc' })
    expect(items).toMatchObject([
      { deliveryId: 'd-1', status: 'accepted', event: 'shop.event', body: '"{\\"order\\":7}"' },
    ])
  })

  it('refuses a wrong signature with 401 before it parses the body', async () => {
    const { app } = createTestApp()
    for (const body of ['{"a":', '{}', '[[[[']) {
      const response = await app.fetch(post('/hooks/shop', body, { ...SIGNED, 'x-signature': 'x' }))
      expect(await refusalOf(response)).toEqual({ status: 401, error: 'hook-signature-invalid' })
    }
  })

  it('does not read the body of a request to an unknown hook', async () => {
    const { app } = createTestApp()
    let wasRead = false
    const body = new ReadableStream(
      {
        pull(controller) {
          wasRead = true
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const init = { method: 'POST', body, duplex: 'half', headers: SIGNED } as RequestInit
    const response = await app.fetch(new Request(`${ORIGIN}/v1/hooks/nope`, init))
    expect(await refusalOf(response)).toEqual({ status: 404, error: 'hook-not-found' })
    expect(wasRead).toBe(false)
  })

  it('limits the size of the body, and refuses an encoded one', async () => {
    const { app } = createTestApp()
    const large = await app.fetch(post('/hooks/shop', { text: 'x'.repeat(1_000) }, SIGNED))
    expect(await refusalOf(large)).toEqual({ status: 413, error: 'body-too-large' })
    const encoded = await app.fetch(post('/hooks/shop', {}, { ...SIGNED, 'content-encoding': 'gzip' }))
    expect(await refusalOf(encoded)).toEqual({ status: 415, error: 'unsupported-media-type' })
  })

  it('limits the requests to a hook apart from other requests, and those to unknown hooks like others', async () => {
    const config = { hookRequestsPerMinute: 3, perIpRequests: 2 }
    const { app } = createTestApp({ config })
    const env = { incoming: { socket: { remoteAddress: '10.0.0.1' } } }
    const statusOf = async (path: string) => (await app.fetch(post(path, {}, SIGNED), env)).status

    expect([await statusOf('/hooks/shop'), await statusOf('/hooks/shop'), await statusOf('/hooks/shop')]).toEqual([
      ...[200, 200, 200],
    ])
    expect(await statusOf('/hooks/shop')).toBe(429)
    expect([await statusOf('/hooks/a'), await statusOf('/hooks/b'), await statusOf('/hooks/c')]).toEqual([
      404, 404, 429,
    ])
  })

  it('shows deliveries only to tokens with hooks:read, and replays them only for hooks:write', async () => {
    const { app, manage } = createTestApp({ auth: 'token' })
    const tokenOf = async (scopes: readonly string[]) => {
      const { token } = await manage.mint({ name: 'm', scopes: [...scopes], subject: 'ops' }, 'test')
      return bearer(token)
    }
    await app.fetch(post('/hooks/shop', {}, SIGNED))
    const read = await tokenOf(['hooks:read:shop'])
    const url = `${ORIGIN}/v1/hooks/shop/deliveries`
    const listed = await app.fetch(new Request(url, { headers: read }))
    const { items } = (await listed.json()) as { readonly items: readonly { readonly id: string }[] }
    expect(items).toHaveLength(1)

    const path = `/hooks/shop/deliveries/${items[0]?.id}/replay`
    expect((await app.fetch(post(path, {}, read))).status).toBe(403)
    expect((await app.fetch(post(path, {}, await tokenOf(['hooks:write:other'])))).status).toBe(403)
    expect((await app.fetch(post(path, {}, await tokenOf(['hooks:write:shop'])))).status).toBe(200)
    expect((await app.fetch(new Request(url))).status).toBe(401)
  })
})
