import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get } from '../app.fixture.ts'

const sent = (...rawHeaders: string[]) => ({ incoming: { rawHeaders } })

describe('a repeated header', () => {
  it('is rejected if the header may have only one value', async () => {
    const { app } = createTestApp()

    const response = await app.fetch(get('/agents'), sent('Host', 'a', 'host', 'b'))

    expect(response.status).toBe(400)
    expect(await bodyOf(response)).toMatchObject({
      error: 'validation-failed',
      message: 'header host: sent more than once',
      requestId: response.headers.get('x-request-id'),
    })
  })

  it('is accepted if the header may contain a list', async () => {
    const { app } = createTestApp()

    expect((await app.fetch(get('/agents'), sent('Accept', 'a', 'Accept', 'b'))).status).toBe(200)
  })
})
