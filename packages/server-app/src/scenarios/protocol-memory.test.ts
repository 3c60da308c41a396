import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AgentRegistration } from '@perdure/core'
import { openSqliteStorage } from '@perdure/sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'perdure-protocol-memory-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))

const echo: AgentRegistration = {
  id: 'echo',
  description: 'Answers its input.',
  agent: { id: 'echo', run: async (input) => `input ${JSON.stringify(input)}` },
}

const WARM_UP = 200
const CALLS = 1_000
const MAX_BYTES_PER_CALL = 4_000

type RequestOf = (id: number) => readonly [path: string, body: object, headers?: Readonly<Record<string, string>>]

const mcpCall =
  (accept: string): RequestOf =>
  (id) => [
    '/mcp',
    { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: { number: id } } },
    { accept, 'mcp-protocol-version': '2025-11-25' },
  ]

const completion =
  (stream: boolean): RequestOf =>
  (id) => [
    '/openai/chat/completions',
    { model: 'echo', stream, messages: [{ role: 'user', content: `{"number":${id}}` }] },
  ]

const response =
  (stream: boolean): RequestOf =>
  (id) => ['/openai/responses', { model: 'echo', stream, input: `{"number":${id}}` }]

describe('the answers to other protocols', () => {
  it.each<[string, RequestOf]>([
    ['an MCP call, as one JSON text', mcpCall('application/json')],
    ['an MCP call, as an event stream', mcpCall('application/json, text/event-stream')],
    ['a chat completion', completion(false)],
    ['a streamed chat completion', completion(true)],
    ['a response of OpenAI', response(false)],
    ['a streamed response of OpenAI', response(true)],
  ])('keep no memory: %s', async (name, requestOf) => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const path = join(folder, `${name.replaceAll(/\W/g, '-')}.db`)
    const storage = await openSqliteStorage({ path, synchronous: 'normal' })
    const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
    const server = await startedServer({ agents: [echo], adapters: { storage, logger } })
    const call = async (id: number) => {
      const [url, body, headers] = requestOf(id)
      const request = new Request(`http://localhost/v1${url}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      expect(await (await server.fetch(request)).text()).toMatch(new RegExp(`number[\\\\"]+:${id}}`))
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
