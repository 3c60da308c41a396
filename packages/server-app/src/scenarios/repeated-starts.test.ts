import type { AgentRegistration } from '@perdure/core'
import { expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

/** More keys than a server keeps the answers of. */
const KEYS = 2_100

it('answers starts that are all repeated, and streams to a client that repeats a start whose run goes on', async () => {
  const held = Promise.withResolvers<string>()
  const agents: AgentRegistration[] = [
    { id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input) => input } },
    { id: 'held', description: 'Waits.', agent: { id: 'held', run: () => held.promise } },
  ]
  const server = await startedServer({ agents })
  const send = (path: string, key: string, body: object) =>
    server.fetch(
      new Request(`http://localhost/v1/agents/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      }),
    )
  const textOf = async (response: Promise<Response>) => (await response).text()
  const start = (n: number) => textOf(send('echo/run', `k${n}`, { input: n }))
  const follow = () => {
    const body = { threadId: 't1', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'go' }] }
    return send('held/ag-ui', 'chat', { ...body, tools: [], state: {}, context: [] })
  }

  const first: string[] = []
  for (let n = 0; n < KEYS; n++) first.push(await start(n))
  const following = await follow()
  for (let n = 0; n < 100; n++) expect(await start(n)).toBe(first[n])
  expect((await send('echo/run', 'k100', { input: 'other' })).status).toBe(409)

  const again = await follow()
  expect([again.status, again.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/event-stream/)])
  held.resolve('done')
  for (const response of [following, again]) expect(await response.text()).toContain('RUN_FINISHED')
})
