import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RunContext } from '@perdure/core'
import type { Logger } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import type { PerdureServer } from '../perdure-server.ts'

const MARK = 'marker-4711'
const GONE = 'ses-gone'
const KEPT = 'ses-kept'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const open: PerdureServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop({ force: true })
})

/** An agent that stores its input everywhere that a run can write. */
const scribe = {
  id: 'scribe',
  async run(input: unknown, { emit, step, tool, session, invoke, metadata }: RunContext) {
    await emit('note.taken', { input })
    await step('remember', () => input)
    await tool({ name: 'look', args: input, execute: () => Promise.resolve({ input, metadata }) })
    await session?.append('assistant', input)
    await session?.update({ title: JSON.stringify(input), metadata: { about: JSON.stringify(input) } })
    await invoke('child', input)
    return input
  },
}
const child = { id: 'child', run: async (input: unknown, { emit }: RunContext) => emit('note.taken', { input }) }
const asker = {
  id: 'asker',
  run: async (input: unknown, { approval }: RunContext) =>
    approval('publish', { title: JSON.stringify(input), payload: input }),
}
const sleeper = { id: 'sleeper', run: (_: unknown, { sleep }: RunContext) => sleep('nap', 3_600_000) }
const failing = {
  id: 'failing',
  run: async (input: unknown) => {
    throw new Error(JSON.stringify(input))
  },
}
const agents = [scribe, child, asker, sleeper, failing].map((agent) => ({ id: agent.id, description: agent.id, agent }))

async function startServer() {
  const path = join(mkdtempSync(join(tmpdir(), 'perdure-sessions-')), 'data.db')
  const server = await createServer({
    config: { auth: { kind: 'none' }, server: { port: 0, rateLimit: { perIpRequests: 100_000 } }, storage: { path } },
    adapters: { logger },
    agents,
  })
  open.push(server)
  const { host, port, basePath } = await server.start()
  let keys = 0
  const call = async (method: string, way: string, body?: unknown) => {
    keys++
    const response = await fetch(`http://${host}:${port}${basePath}${way}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(method === 'GET' ? {} : { 'idempotency-key': `key-${keys}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: text.startsWith('{') && !text.includes('\n') ? JSON.parse(text) : {} }
  }
  return { server, path, call }
}

type Call = Awaited<ReturnType<typeof startServer>>['call']

/** Stores data of a session in every table that can hold some. */
async function fill(call: Call, sessionId: string, mark: string) {
  const input = { text: mark }
  await call('POST', '/sessions', { id: sessionId, title: mark, metadata: { mark } })
  await call('PATCH', `/sessions/${sessionId}`, { title: `${mark} again` })
  const { body: run } = await call('POST', '/agents/scribe/run', { input, sessionId, metadata: { mark } })
  const statusOf = async (runId: string) => (await call('GET', `/runs/${runId}`)).body.status
  await expect.poll(() => statusOf(run.runId)).toBe('completed')
  await call('POST', '/agents/failing/run', { input, sessionId })
  const { body: asked } = await call('POST', '/agents/asker/run', { input, sessionId })
  expect(asked.status).toBe('suspended')
  const { body: resolved } = await call('POST', `/approvals/${asked.approvals[0].id}/resolve`, {
    approved: true,
    reason: mark,
    payload: input,
  })
  expect(resolved.status).toBe('approved')
  await call('POST', '/agents/asker/run', { input, sessionId })
  await call('POST', '/agents/sleeper/run', { input, sessionId })
  await call('POST', `/sessions/${sessionId}/replay`, {})
  await call('POST', `/runs/${run.runId}/replay`, {})
  const { text } = await call('POST', `/sessions/${sessionId}/export`)
  expect(text).toContain('"type":"checksum"')
  const { body } = await call('GET', `/sessions/${sessionId}/runs?limit=200`)
  return (body.items as { id: string }[]).map(({ id }) => id)
}

/** Finds every row of the database that contains one of the words, as `table: row`. */
function scan(path: string, words: readonly string[]): readonly string[] {
  const db = new DatabaseSync(path, { readOnly: true })
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").all() as { name: string }[]
  const found = tables.flatMap(({ name }) =>
    (db.prepare(`select * from "${name}"`).all() as object[])
      .map((row) => `${name}: ${JSON.stringify(row)}`)
      .filter((row) => words.some((word) => row.includes(word))),
  )
  db.close()
  return found
}

describe('the deletion of a session', () => {
  it('leaves no row with content or runs of the session, and does not affect other sessions', async () => {
    const { server, path, call } = await startServer()
    const kept = await fill(call, KEPT, 'other-text')
    const gone = await fill(call, GONE, MARK)
    expect(gone.length).toBe(6)
    const before = scan(path, [KEPT, 'other-text', ...kept])
    const leftBefore = scan(path, [MARK, ...gone])
    const tables = new Set(leftBefore.map((row) => row.slice(0, row.indexOf(':'))))
    expect([...tables].sort()).toEqual(
      [
        'approvals',
        'audit_entries',
        'events',
        'idempotency',
        'messages',
        'run_fields',
        'run_keys',
        'runs',
        'session_fields',
        'sessions',
        'steps',
      ].sort(),
    )

    expect((await call('DELETE', `/sessions/${GONE}`)).status).toBe(204)

    // The audit chain and its events keep the ids of replayed runs.
    const isAudit = (row: string) => row.startsWith('audit_entries') || row.includes('"type":"audit.appended"')
    expect(scan(path, [MARK, ...gone]).filter((row) => !isAudit(row))).toEqual([])
    expect(scan(path, [MARK])).toEqual([])
    expect(
      scan(path, [GONE])
        .filter((row) => !row.includes('"type":"audit.appended"'))
        .map((row) => row.slice(0, row.indexOf(':')))
        .sort(),
    ).toEqual([...['audit_entries', 'audit_entries', 'audit_entries', 'events']])
    expect(scan(path, [KEPT, 'other-text', ...kept])).toEqual(before)
    expect((await call('GET', `/sessions/${GONE}`)).status).toBe(404)
    expect((await call('GET', `/runs/${gone[0]}`)).status).toBe(404)
    await server.stop()
    expect(scan(path, [MARK])).toEqual([])
  })
})
