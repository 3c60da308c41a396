import { createServer } from '@perdure/server-app'
import { storageContract } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { createCountingStorage } from './counting-storage.mjs'

storageContract({ name: 'counting', open: async () => createCountingStorage() })

it('runs a server on the custom storage', async () => {
  const storage = createCountingStorage()
  const server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0 } },
    adapters: { storage },
    agents: [{ id: 'echo', description: 'Echoes.', agent: { id: 'echo', run: async (input) => input } }],
  })
  const { host, port, basePath } = await server.start()
  const response = await fetch(`http://${host}:${port}${basePath}/agents/echo/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"input":7}',
  })

  expect(await response.json()).toMatchObject({ status: 'completed', result: 7 })
  expect(storage.commits()).toBeGreaterThan(1)
  await server.stop()
  await storage.close()
})
