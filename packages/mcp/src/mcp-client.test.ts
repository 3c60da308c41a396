import { mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { McpClient } from '@perdure/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestClient, isAlive, refusal, rudeServer, stdioServer } from './mcp-client.fixture.ts'
import type { McpClientOptions } from './mcp-client.ts'

const open: McpClient[] = []
afterEach(async () => {
  for (const client of open.splice(0)) await client.close()
})
const make = (over: Partial<McpClientOptions> = {}) => {
  const made = createTestClient(over)
  open.push(made.client)
  return made
}
const go = { tool: 'go', arguments: {} }
const textOf = (outcome: unknown) =>
  (outcome as { value: { content: { text: string }[] } }).value.content[0]?.text ?? ''

describe('an MCP server over stdio', () => {
  it('starts on first use, lists its tools by name and calls them', async () => {
    const { client } = make()
    const server = stdioServer('tools')
    expect(client.status('tools')).toBe('disconnected')

    const tools = await client.tools(server)

    expect(client.status('tools')).toBe('connected')
    expect(tools.map(({ name }) => name)).toEqual(['add', 'echo', 'fail', 'large', 'learn', 'whoami'])
    expect(tools[0]).toEqual({ name: 'add', description: 'Does add.', inputSchema: { type: 'object' } })
    expect(await client.call(server, { tool: 'add', arguments: { a: 2, b: 3 } })).toEqual({
      ok: true,
      value: { content: [{ type: 'text', text: '5' }] },
    })
    expect(await client.call(server, { tool: 'echo', arguments: { text: 'Grüße 🚢' } })).toEqual({
      ok: true,
      value: { content: [{ type: 'text', text: 'Grüße 🚢' }], structuredContent: { heard: 'Grüße 🚢' } },
    })
  })

  it('runs as one process for all callers, in its configured folder, with only the configured variables', async () => {
    process.env.PERDURE_TEST_SECRET = 'not for servers'
    const { client } = make()
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-mcp-')))
    const server = stdioServer('tools', { cwd, env: { MODE: 'test' }, envRefs: { API_KEY: 'env:KEY' } })

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.call(server, { tool: 'whoami', arguments: {} })),
    )

    expect(new Set(answers.map(textOf)).size).toBe(1)
    const { env, cwd: seen } = JSON.parse(textOf(answers[0]))
    expect(seen).toBe(cwd)
    expect(env).toMatchObject({ MODE: 'test', API_KEY: 'the-key' })
    expect(Object.keys(env)).not.toContain('PERDURE_TEST_SECRET')
    delete process.env.PERDURE_TEST_SECRET
  })

  it('receives the traceparent of its caller', async () => {
    const { client } = make()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

    const answer = await client.call(stdioServer('tools'), { tool: 'whoami', arguments: {}, traceparent })

    expect(JSON.parse(textOf(answer)).meta).toMatchObject({ traceparent })
  })

  it('reports a failing tool, an unknown tool and an oversized result with different errors', async () => {
    const { client } = make()
    const server = stdioServer('tools')

    expect(await client.call(server, { tool: 'fail', arguments: {} })).toEqual({
      ok: false,
      error: { kind: 'execution_failed', message: 'it did not work' },
    })
    expect(await refusal(client.call(server, { tool: 'unknown', arguments: {} }))).toBe('mcp-tool-not-found')
    const large = await client.call(server, { tool: 'large', arguments: { bytes: 100_001 } })
    expect(large).toMatchObject({ ok: false, error: { kind: 'invalid_output' } })
    expect((await client.call(server, { tool: 'large', arguments: { bytes: 99_000 } })).ok).toBe(true)
  })

  it('has its tools listed again after it announces a change', async () => {
    const { client } = make()
    const server = stdioServer('tools')
    await client.call(server, { tool: 'learn', arguments: {} })

    await expect.poll(async () => (await client.tools(server)).map(({ name }) => name)).toContain('learned')
  })

  it('is killed with its process group when the client closes, even if it ignores SIGTERM', async () => {
    const { client } = make()
    const pidFile = join(mkdtempSync(join(tmpdir(), 'perdure-mcp-')), 'pids')
    await client.call(rudeServer('stubborn', pidFile), go)
    const pids = JSON.parse(readFileSync(pidFile, 'utf8')) as number[]
    expect(pids.map(isAlive)).toEqual([true, true])

    await client.close()

    // A killed process may stay a zombie until the system reaps it.
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false])
    expect(await refusal(client.tools(stdioServer('tools')))).toBe('mcp-server-unavailable')
  })

  it('is restarted when its configuration changes', async () => {
    const { client } = make()
    await client.tools(stdioServer('tools', { env: { MODE: 'one' } }))

    const answer = await client.call(stdioServer('tools', { env: { MODE: 'two' } }), { tool: 'whoami', arguments: {} })

    expect(JSON.parse(textOf(answer)).env.MODE).toBe('two')
  })
})

describe('a misbehaving MCP server', () => {
  it.each(['crash-at-start', 'flood-at-start', 'nonsense', 'hang-at-start'])(
    'is unavailable in mode %s and is retried with increasing backoff',
    async (mode) => {
      const { client, clock, warnings } = make({ connectTimeoutMs: 1_500 })
      const server = rudeServer(mode)

      for (const pauseMs of [1_000, 2_000]) {
        expect(await refusal(client.tools(server))).toBe('mcp-server-unavailable')
        expect(warnings.at(-1)).toContain(`"pauseMs":${pauseMs}`)
        const told = warnings.length
        clock.advance(pauseMs - 1)
        await expect(client.tools(server)).rejects.toMatchObject({ retryAfter: 1 })
        expect(warnings.length).toBe(told)
        clock.advance(1)
      }
      expect(client.status(mode)).toBe('failed')
    },
  )

  it('is unavailable if its program does not exist', async () => {
    const { client } = make()
    const server = { ...stdioServer('none'), command: '/no/such/program' }

    expect(await refusal(client.tools(server))).toBe('mcp-server-unavailable')
  })

  it('is unavailable if its secret cannot be resolved, and the error names only the reference', async () => {
    const { client } = make()

    await expect(client.tools(stdioServer('tools', { envRefs: { A: 'env:NONE' } }))).rejects.toThrow(
      'env:NONE is not set',
    )
  })

  it('fails the call during which it crashes and serves the next call after the backoff', async () => {
    const { client, clock } = make()
    const server = rudeServer('crash')

    expect(await client.call(server, go)).toMatchObject({
      ok: false,
      error: { kind: 'execution_failed', message: expect.stringContaining('may have taken effect') },
    })
    expect(client.status('crash')).toBe('failed')

    expect(await refusal(client.tools(server))).toBe('mcp-server-unavailable')
    clock.advance(1_000)
    expect(await client.tools(server)).toMatchObject([{ name: 'go' }])
  })

  it('lets hanging calls time out and is disconnected after three timeouts in a row', async () => {
    const { client, clock } = make({ callTimeoutMs: 300 })
    const server = rudeServer('hang')
    const timeout = { ok: false, error: { kind: 'timeout' } }

    expect(await client.call(server, go)).toMatchObject(timeout)
    expect(await client.call(server, { ...go, timeoutMs: 50 })).toMatchObject(timeout)
    expect(client.status('hang')).toBe('connected')
    expect(await client.call(server, go)).toMatchObject(timeout)

    expect(client.status('hang')).toBe('failed')
    expect(await refusal(client.tools(server))).toBe('mcp-server-unavailable')
    clock.advance(1_000)
    expect((await client.tools(server)).length).toBe(1)
  })

  it('cannot delay the end of an aborted call', async () => {
    const { client } = make()
    const aborting = new AbortController()
    const called = client.call(rudeServer('hang'), { ...go, signal: aborting.signal })
    await expect.poll(() => client.status('hang')).toBe('connected')

    aborting.abort()

    expect(await called).toMatchObject({ ok: false, error: { kind: 'aborted' } })
  })

  it.each(['flood-line', 'flood-lines', 'flood-nonsense'])('is disconnected in mode %s', async (mode) => {
    const { client } = make({ maxResultBytes: 1_000_000 })

    expect(await client.call(rudeServer(mode), go)).toMatchObject({ ok: false, error: { kind: 'execution_failed' } })

    expect(client.status(mode)).toBe('failed')
  })

  it('may write any amount to stderr', async () => {
    const { client } = make()

    expect(await client.call(rudeServer('flood-errors'), go)).toMatchObject({ ok: true })
  })

  it('receives at most 32 calls at once', async () => {
    const { client } = make({ callTimeoutMs: 500 })
    const server = rudeServer('hang')

    const outcomes = await Promise.all(Array.from({ length: 40 }, () => client.call(server, go)))

    const kinds = outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.kind))
    expect(kinds.filter((kind) => kind === 'rate_limited')).toHaveLength(8)
    expect(kinds).not.toContain('ok')
  })

  it('does not affect other servers while it hangs, crashes and floods', async () => {
    const { client } = make({ callTimeoutMs: 5_000 })
    const good = stdioServer('tools')
    await client.tools(good)
    // Ignore its error: this call hangs until it times out or the client is closed.
    const hanging = client.call(rudeServer('hang'), go).catch(() => undefined)
    const rude = ['crash', 'flood-line', 'flood-lines', 'flood-nonsense'].map((mode) =>
      client.call(rudeServer(mode), go),
    )
    let answered = 0
    let isOver = false
    const bad = Promise.all(rude).then(() => {
      isOver = true
    })

    while (!isOver || answered < 20) {
      expect((await client.call(good, { tool: 'add', arguments: { a: answered, b: 1 } })).ok).toBe(true)
      answered++
    }

    await bad
    expect(client.status('tools')).toBe('connected')
    await client.close()
    await hanging
  })
})
