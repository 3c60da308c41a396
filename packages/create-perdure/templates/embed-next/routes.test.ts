import { equal, partialDeepStrictEqual } from 'node:assert/strict'
import { after, test } from 'node:test'
import { runAgent } from 'perdure/testing'
import { story } from './agents/story.ts'
import { GET } from './app/ai/v1/[...path]/route.ts'
import { POST } from './app/stories/route.ts'
import { perdure } from './lib/perdure.ts'

process.env.DATABASE_PATH = ':memory:'
after(async () => (await perdure()).stop())

test('the agent tells a story', async () => {
  const { result } = await runAgent(story, { topic: 'a fox' })

  partialDeepStrictEqual(result, { text: 'Once upon a time there was a fox.' })
})

test('a signed-in user gets a story', async () => {
  const headers = { cookie: 'session=ann', 'content-type': 'application/json' }
  const request = new Request('http://localhost/stories', { method: 'POST', headers, body: '{"topic":"a fox"}' })

  partialDeepStrictEqual(await (await POST(request)).json(), { status: 'completed' })
})

test('the API below /ai needs a token', async () => {
  equal((await GET(new Request('http://localhost/ai/v1/agents'))).status, 401)
})
