import { expect, it } from 'vitest'
import { ADMIN, startedServer, WITH_TOKENS } from '../embedding/embedded-server.fixture.ts'

/** A server with tokens. `as` sends requests with a new token of the subject. */
async function serve() {
  const server = await startedServer({
    config: { auth: WITH_TOKENS, server: { rateLimit: { perIpRequests: 10_000 } } },
  })
  return async (subject: string, ...scopes: string[]) => {
    const { token } = await server.client(ADMIN).tokens.create({ name: 'test', subject, scopes })
    return async (path: string, body?: object, method = body === undefined ? 'GET' : 'POST') => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const init = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await server.fetch(new Request(`http://localhost/v1${path}`, { method, headers, ...init }))
      return { status: response.status, runId: response.headers.get('x-perdure-run-id'), text: await response.text() }
    }
  }
}

const agUi = (runId: string, content: string) => ({
  ...{ threadId: 't', runId },
  messages: [{ id: 'm1', role: 'user', content }],
})

it('leads the id that a client gave its run to the run of the caller, even if somebody else gave it too', async () => {
  const as = await serve()
  const [boss, mallory] = [await as('boss', 'admin:*'), await as('mallory', 'agents:invoke')]
  const own = await boss('/agents/echo/ag-ui', agUi('r1', 'of the boss'))
  await new Promise((resolve) => setTimeout(resolve, 2))
  await mallory('/agents/echo/ag-ui', agUi('r1', 'planted'))

  const connected = await boss('/agents/echo/ag-ui/r1')

  expect(connected.runId).toBe(own.runId)
  expect(connected.text).not.toContain('planted')
})

it('refuses the keys of the server in every protocol', async () => {
  const boss = await (await serve())('boss', 'admin:*')
  const metadata = { 'interop.ref': 'r1', 'interop.previous': 'resp_1', 'interop.conversation': 'c' }
  const messages = [{ role: 'user', content: 'hi' }]
  await boss('/openai/conversations', {})
  await boss('/sessions', { id: 'ses' })
  const sent: readonly (readonly [path: string, body: object, method?: string])[] = [
    ['/agents/echo/run', { metadata }],
    ['/agents/echo/stream', { metadata }],
    ['/sessions', { metadata }],
    ['/sessions/ses', { metadata }, 'PATCH'],
    ['/openai/chat/completions', { model: 'echo', messages, metadata }],
    ['/openai/responses', { model: 'echo', input: 'hi', metadata }],
    ['/openai/conversations', { metadata }],
    ['/openai/conversations/ses', { metadata }],
  ]

  for (const [path, body, method] of sent) {
    const { status, text } = await boss(path, body, method)
    expect([path, status]).toEqual([path, 400])
    expect(text).toContain('interop.')
  }
  expect((await boss('/runs')).text).not.toContain('interop.')
})

it('shows clients of OpenAI only the metadata that they have set, and keeps the rest', async () => {
  const boss = await (await serve())('boss', 'admin:*')
  const path = '/openai/conversations/my%20talk'
  const metadataIn = async (answer: ReturnType<typeof boss>) => JSON.parse((await answer).text).metadata
  const first = boss('/openai/responses', {
    ...{ model: 'echo', input: 'hi', conversation: 'my talk', metadata: { project: 'p1' } },
  })

  expect(await metadataIn(first)).toEqual({ project: 'p1' })
  expect(await metadataIn(boss(path))).toEqual({})
  expect(await metadataIn(boss(path, { metadata: { topic: 'travel' } }))).toEqual({ topic: 'travel' })
  expect(await metadataIn(boss(path))).toEqual({ topic: 'travel' })
  const [session] = JSON.parse((await boss('/sessions')).text).items
  expect(session.metadata).toEqual({ topic: 'travel', 'interop.id': 'my talk' })
})
