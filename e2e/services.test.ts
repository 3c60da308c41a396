import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bearer, createSandbox, createToken, startServer } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/services.config.mjs')
const ARGS = ['server', '--config', CONFIG]

async function start() {
  const sandbox = createSandbox()
  sandbox.env.E2E_DIR = sandbox.dir
  const token = await createToken(sandbox)
  let server = await startServer(sandbox, ARGS)
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { ...bearer(token), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : parse(text) }
  }
  const restart = async (signal: NodeJS.Signals) => {
    const ended = await server.kill(signal)
    server = await startServer(sandbox, ARGS)
    return ended
  }
  return { sandbox, call, restart, stop: () => server.kill('SIGTERM') }
}

const parse = (text: string) => (text.includes('}\n{') ? text : JSON.parse(text))
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a server with sessions, skills and MCP servers', () => {
  it('offers them to runs and over REST, and keeps sessions across kill -9', async () => {
    const { call, restart, stop } = await start()
    await call('POST', '/sessions', { id: 'chat', metadata: { a: 'b' } })

    const run = await call('POST', '/agents/guide/run', { input: { a: 2, b: 3 }, sessionId: 'chat' })

    expect(run.body).toMatchObject({
      status: 'completed',
      result: { name: 'greeting', text: 'Be kind.\n', messages: 2, added: { ok: true } },
    })
    await restart('SIGKILL')
    expect((await call('GET', '/sessions/chat')).body).toMatchObject({ title: 'sum of 2 and 3', metadata: { a: 'b' } })
    const transcript = (await call('GET', '/sessions/chat/messages?order=asc')).body.items
    expect(transcript.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'assistant'])
    const exported = (await call('POST', '/sessions/chat/export')).text
    expect(exported.trimEnd().split('\n').at(-1)).toContain('"type":"checksum"')
    expect((await call('GET', '/skills/greeting')).body).toMatchObject({ status: 'ready', files: ['notes.md'] })
    expect((await call('DELETE', '/sessions/chat')).status).toBe(204)
    await restart('SIGKILL')
    expect((await call('GET', '/sessions/chat')).status).toBe(404)
    expect((await call('GET', `/runs/${run.body.runId}`)).status).toBe(404)
    expect((await stop()).code).toBe(0)
  })

  it('answers while MCP servers hang, crash and flood their output, and leaves no child process behind', async () => {
    const { call, sandbox, stop } = await start()
    const go = (id: string) => call('POST', `/mcp/servers/${id}/tools/go/call`, {})
    const { body: stuck } = await call('POST', '/agents/stuck/stream', {})
    const hanging = go('hang').catch(() => undefined)
    const rude = await Promise.all([go('crash'), go('flood'), go('stubborn')])
    const added = await call('POST', '/mcp/servers/tools/tools/add/call', { arguments: { a: 1, b: 1 } })

    expect(rude.map(({ body }) => body.ok)).toEqual([false, false, true])
    expect(added.body).toMatchObject({ ok: true })
    expect((await call('GET', '/health')).status).toBe(200)
    expect((await call('GET', `/runs/${stuck.runId}`)).body.status).toBe('running')
    const statuses = async () => {
      const { items } = (await call('GET', '/mcp/servers?order=asc')).body
      return items.map((one: { id: string; status: string }) => `${one.id} ${one.status}`)
    }
    await expect
      .poll(statuses)
      .toEqual(['crash failed', 'flood failed', 'hang connected', 'stubborn connected', 'tools connected'])
    const pids = JSON.parse(readFileSync(join(sandbox.dir, 'pids'), 'utf8')) as number[]
    expect(pids.map(isAlive)).toEqual([true, true])

    expect((await stop()).code).toBe(0)

    // The system may take a moment to reap an exited process.
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false])
    await hanging
  })

  it('never repeats a tool call that kill -9 interrupted, and reports the call as failed under its key', async () => {
    const { call, restart, stop } = await start()
    const key = { 'Idempotency-Key': 'once' }
    const request = () => call('POST', '/mcp/servers/hang/tools/go/call', {}, key)
    // One of the two calls runs forever; the server rejects the other because its key is in flight.
    const both = [request(), request()]
    expect((await Promise.race(both)).body.error).toBe('idempotency-in-flight')

    await restart('SIGKILL')
    await Promise.allSettled(both)

    const again = await request()
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.body).toMatchObject({ ok: false, error: { kind: 'execution_failed' } })
    expect((await call('GET', '/mcp/servers/hang/tools')).status).toBe(200)
    expect((await stop()).code).toBe(0)
  })
})
