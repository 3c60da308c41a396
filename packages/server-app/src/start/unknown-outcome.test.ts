import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { type Fault, withFaults } from '@perdure/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Starts a run on a storage that was passed in and whose next commit fails with `fault`. */
async function serve(fault: Fault) {
  let next: Fault | undefined
  const storage = withFaults(createInMemoryStorage(), {
    faultOf: ({ port }) => (port === 'unitOfWork' ? next : undefined),
  })
  const server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0 } },
    adapters: { storage, logger },
    agents: [{ id: 'echo', description: 'Echo.', agent: { id: 'echo', run: async (input) => input } }],
  })
  onTestFinished(() => server.stop({ force: true }))
  const { host, port, basePath } = await server.start()
  next = fault
  const { status } = await fetch(`http://${host}:${port}${basePath}/agents/echo/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  next = undefined
  return { server, status }
}

it('resolves `fatal` when a storage that was passed in reports an unknown outcome', async () => {
  const { server, status } = await serve('unknown')

  expect(status).toBe(503)
  await expect(server.fatal).resolves.toMatchObject({ id: 'storage-failed' })
})

it('does not resolve `fatal` when a storage that was passed in is busy', async () => {
  const { server, status } = await serve('busy')

  expect(status).toBe(503)
  expect(await Promise.race([server.fatal, Promise.resolve('still running')])).toBe('still running')
})
