import { expect, it } from 'vitest'
import { createTestApp } from '../app.fixture.ts'

it('refuses a body by the scope of its model before it parses the body', async () => {
  const { app, manage } = createTestApp({ auth: 'token' })
  const { token } = await manage.mint({ name: 'm', scopes: ['agents:invoke:other'], subject: 'alice' }, 'test')
  const statusOf = async (body: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return (await app.fetch(new Request('http://localhost/v1/openai/responses', { method: 'POST', headers, body })))
      .status
  }

  expect(await statusOf('{"model":"echo","input":broken')).toBe(403)
  expect(await statusOf('{"model":"other","input":broken')).toBe(400)
})
