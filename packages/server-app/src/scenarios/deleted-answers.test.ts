import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { type ErrorCode, errorsOf, OPERATIONS } from '@perdure/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Operations whose stored answer contains data that is deleted with a session. */
const HOLDING_SESSION_DATA = [
  ...['agents.run', 'agents.stream', 'workflows.execute', 'workflows.resume', 'triggers.fire', 'approvals.resolve'],
  ...['runs.abort', 'runs.fork', 'runs.retry', 'runs.rerun', 'runs.resume', 'sessions.create', 'sessions.update'],
]

/** Operations whose stored answer contains data that is deleted with a thread. */
const HOLDING_THREAD_DATA = [
  ...['workflows.execute', 'workflows.resume', 'triggers.fire', 'approvals.resolve'],
  ...['runs.abort', 'runs.fork', 'runs.retry', 'runs.rerun', 'runs.resume'],
]

async function start() {
  const server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0 } },
    adapters: { storage: createInMemoryStorage(), logger },
    workflows: [{ id: 'copy', description: '', workflow: { id: 'copy', execute: async (input) => input } }],
  })
  onTestFinished(() => server.stop({ force: true }))
  const { host, port, basePath } = await server.start()
  const call = async (method: string, path: string, body?: object, prefer = '') => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `key-${method}`, prefer }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`http://${host}:${port}${basePath}${path}`, init)
    return { status: response.status, text: await response.text() }
  }
  return call
}

const undeclared = (error: ErrorCode, ids: readonly string[]) => {
  const holding = OPERATIONS.filter(({ id }) => ids.includes(id))
  expect(holding).toHaveLength(ids.length)
  return holding.filter((operation) => !errorsOf(operation).includes(error))
}

it('answers a repeated request with a declared error if the stored answer was deleted with a session', async () => {
  const call = await start()
  const create = () => call('POST', '/sessions', { id: 'gone' })
  const first = await create()
  expect([first.status, await create()]).toEqual([201, first])
  expect((await call('DELETE', '/sessions/gone')).status).toBe(204)

  const { status, text } = await create()

  expect([status, JSON.parse(text).error]).toEqual([404, 'session-not-found'])
  expect(undeclared('session-not-found', HOLDING_SESSION_DATA)).toEqual([])
})

it('answers a repeated request with a declared error if the stored answer was deleted with a thread', async () => {
  const call = await start()
  const execute = () => call('POST', '/workflows/copy/execute', { threadId: 'gone', input: 'secret' }, 'wait=30')
  const first = await execute()
  expect([first.status, await execute()]).toEqual([200, first])
  expect(first.text).toContain('secret')
  expect((await call('DELETE', '/workflows/copy/threads/gone')).status).toBe(204)

  const { status, text } = await execute()

  expect([status, JSON.parse(text).error]).toEqual([404, 'thread-not-found'])
  expect(text).not.toContain('secret')
  expect(undeclared('thread-not-found', HOLDING_THREAD_DATA)).toEqual([])
})
