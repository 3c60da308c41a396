import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { expect, it, onTestFinished } from 'vitest'
import { createTestApp } from './app.fixture.ts'

it('serves requests through the fetch function of the app behind another server, such as @hono/node-server', async () => {
  const { app } = createTestApp()
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/v1/agents/echo/run`
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' }

  const answers = []
  for (let n = 0; n < 2; n++) answers.push(await fetch(url, { method: 'POST', headers, body: '{"input":1}' }))

  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const [first, second] = await Promise.all(answers.map((answer) => answer.json()))
  expect(first).toMatchObject({ status: 'completed' })
  expect(second).toEqual(first)
})
