import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { createManualClock, type Fault, withFaults } from '@perdure/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'
import { withUnknownOutcome } from './unknown-outcome.ts'

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
  await expect(server.fatal).resolves.toMatchObject({ code: 'storage-failed' })
})

it.each(['busy', 'unavailable'] as const)(
  'does not resolve `fatal` when a storage that was passed in is %s',
  async (fault) => {
    const { server, status } = await serve(fault)

    expect(status).toBe(503)
    expect(await Promise.race([server.fatal, Promise.resolve('still running')])).toBe('still running')
  },
)

it('reports a failed commit only after the storage has saved its content', async () => {
  let isSaving = true
  let checks = 0
  const failed = withFaults(createInMemoryStorage(), {
    faultOf: ({ port }) => (port === 'unitOfWork' ? 'unknown' : undefined),
  })
  const status = async () => {
    checks++
    return { ...(await failed.status()), isSaving }
  }
  const clock = createManualClock()
  const reported: unknown[] = []
  const storage = withUnknownOutcome({ ...failed, status }, clock, (error) => reported.push(error))
  const isReported = () => {
    clock.advance(100)
    return reported.length > 0
  }

  await expect(storage.unitOfWork.commit([])).rejects.toMatchObject({ code: 'storage-failed' })
  await expect.poll(() => isReported() || checks).toBeGreaterThan(3)
  expect(reported).toEqual([])
  isSaving = false

  await expect.poll(isReported).toBe(true)
  expect(reported).toMatchObject([{ code: 'storage-failed' }])
})
