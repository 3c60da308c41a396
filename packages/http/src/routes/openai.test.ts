import { expect, it } from 'vitest'
import { createTestApp, post } from '../app.fixture.ts'

it('creates one conversation for repeated requests with one key, and answers both with the conversation', async () => {
  const { app } = createTestApp()
  const create = async (key: string) => {
    const response = await app.fetch(
      post('/openai/conversations', { metadata: { topic: 'tea' } }, { 'idempotency-key': key }),
    )
    return { status: response.status, body: (await response.json()) as { readonly id: string } }
  }

  const first = await create('k1')

  expect(first).toMatchObject({ status: 200, body: { object: 'conversation', metadata: { topic: 'tea' } } })
  expect(await create('k1')).toEqual(first)
  expect((await create('k2')).body.id).not.toBe(first.body.id)
})
