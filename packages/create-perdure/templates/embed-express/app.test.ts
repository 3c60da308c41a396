import { equal, partialDeepStrictEqual } from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { runAgent } from 'perdure/testing'
import { story } from './agents/story.ts'
import { createApp } from './app.ts'
import { startPerdure } from './perdure.ts'

const perdure = await startPerdure(':memory:')
const host = createApp(perdure).listen(0, '127.0.0.1')

before(() => host.listening || new Promise((resolve) => host.once('listening', resolve)))
after(async () => {
  await perdure.stop()
  host.close()
})

const url = (path: string): string => `http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`

test('the agent tells a story', async () => {
  const { result } = await runAgent(story, { topic: 'a fox' })

  partialDeepStrictEqual(result, { text: 'Once upon a time there was a fox.' })
})

test('a signed-in user gets a story', async () => {
  const headers = { cookie: 'session=ann', 'content-type': 'application/json' }
  const response = await fetch(url('/stories'), { method: 'POST', headers, body: '{"topic":"a fox"}' })

  partialDeepStrictEqual(await response.json(), { status: 'completed' })
})

test('the API below /ai needs a token', async () => {
  equal((await fetch(url('/ai/v1/agents'))).status, 401)
})
