import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AgentRegistration } from '@perdure/core'
import { openSqliteStorage } from '@perdure/sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'perdure-mcp-memory-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))

const adder: AgentRegistration = {
  id: 'adder',
  description: 'Adds.',
  agent: { id: 'adder', run: async (input) => input },
}

const WARM_UP = 200
const CALLS = 1_000
const MAX_BYTES_PER_CALL = 4_000

describe('MCP calls', () => {
  it.each([
    ['one JSON text', 'application/json'],
    ['an event stream', 'application/json, text/event-stream'],
  ])('keep no memory after their answer, %s', async (_, accept) => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const storage = await openSqliteStorage({ path: join(folder, `${accept.length}.db`) })
    const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
    const server = await startedServer({ agents: [adder], adapters: { storage, logger } })
    const call = async (id: number) => {
      const body = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'adder', arguments: { id } } }
      const headers = { accept, 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25' }
      const request = new Request('http://localhost/v1/mcp', { method: 'POST', headers, body: JSON.stringify(body) })
      expect(await (await server.fetch(request)).text()).toContain(`{"id":${id}}`)
    }
    const heapAfter = async (count: number) => {
      for (let n = 0; n < count; n += 10) await Promise.all(Array.from({ length: 10 }, (_, k) => call(n + k)))
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = await heapAfter(WARM_UP)

    expect((await heapAfter(CALLS)) - before).toBeLessThan(CALLS * MAX_BYTES_PER_CALL)
  })
})
