import { createInMemoryStorage } from '@berth/in-memory'
import type { Logger } from '@berth/ports'
import { errorsOf, OPERATIONS } from '@berth/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { createServer } from './create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Operations whose answer is kept under a key and holds what goes with a session. */
const HOLDING = [
  ...['agents.run', 'agents.stream', 'workflows.execute', 'workflows.resume', 'triggers.fire', 'approvals.resolve'],
  ...['runs.abort', 'runs.resume', 'runs.replay', 'sessions.create', 'sessions.update', 'sessions.replay'],
]

it('a repeated request is told by a declared error that its answer went with a session', async () => {
  const server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0 } },
    adapters: { storage: createInMemoryStorage(), logger },
  })
  onTestFinished(() => server.stop({ force: true }))
  const { host, port, basePath } = await server.start()
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `key-${method}` }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`http://${host}:${port}${basePath}${path}`, init)
    return { status: response.status, text: await response.text() }
  }
  expect((await call('POST', '/sessions', { id: 'gone' })).status).toBe(201)
  expect((await call('DELETE', '/sessions/gone')).status).toBe(204)

  const { status, text } = await call('POST', '/sessions', { id: 'gone' })

  expect([status, JSON.parse(text).error]).toEqual([404, 'session-not-found'])
  const holding = OPERATIONS.filter(({ id }) => HOLDING.includes(id))
  expect(holding).toHaveLength(HOLDING.length)
  expect(holding.filter((operation) => !errorsOf(operation).includes('session-not-found'))).toEqual([])
})
