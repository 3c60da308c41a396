import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createSandbox, createToken, LEDGER_CONFIG, perdure, startServer } from './perdure-process.ts'

const start = async (over: NodeJS.ProcessEnv = {}) => {
  const sandbox = createSandbox(over)
  const token = await createToken(sandbox)
  const server = await startServer(sandbox)
  const post = (path: string, body: unknown, headers = {}) =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { ...bearer(token), ...headers },
      body: JSON.stringify(body),
    })
  const get = (path: string, headers = {}) =>
    fetch(`${server.url}${path}`, { headers: { ...bearer(token), ...headers } })
  return { sandbox, token, server, post, get }
}

/** Ten times the promise of five seconds, so that a busy machine passes and a hang fails. */
const RECOVERY_MS = 50_000
/** A stream ends with its run. */
const STREAM_END_MS = 10_000

describe('perdure server', () => {
  it('prints one line on stdout, with the actual port', async () => {
    const { server } = await start()

    expect(server.stdout()).toBe(`listening on ${server.url}\n`)
    await server.kill('SIGTERM')
  })

  it('creates its database readable by its owner only', async () => {
    const { sandbox, server } = await start()

    expect(statSync(sandbox.env.PERDURE_STORAGE_PATH ?? '').mode & 0o777).toBe(0o600)
    await server.kill('SIGTERM')
  })

  it('completes and answers running runs on SIGTERM and exits 0', async () => {
    const { server, post, get, sandbox } = await start({ PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: '60000' })
    const gate = join(sandbox.dir, 'gate')
    const answers = Promise.all([1, 2, 3].map(() => post('/agents/gated/run', { input: { gate } }).then(bodyOf)))
    await expect.poll(async () => (await bodyOf(get('/agents/gated/state'))).running).toBe(3)

    const ended = server.kill('SIGTERM')
    await expect.poll(async () => (await get('/health/ready')).status).toBe(503)
    writeFileSync(gate, '')
    expect(await ended).toEqual({ code: 0, signal: null })

    expect((await answers).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    expect(existsSync(`${sandbox.env.PERDURE_STORAGE_PATH}-wal`)).toBe(false)
  })

  it('aborts a run that ignores its signal when the drain timeout passes, and exits 0', async () => {
    const { server, post, sandbox, token } = await start()
    const { runId } = await bodyOf(post('/agents/deaf/stream', {}))

    expect((await server.kill('SIGTERM')).code).toBe(0)

    const next = await startServer(sandbox)
    const run = await bodyOf(fetch(`${next.url}/runs/${runId}`, { headers: bearer(token) }))
    expect(run).toMatchObject({ status: 'aborted', finishReason: 'shutdown' })
    await next.kill('SIGTERM')
  })

  it('stops at once on the second signal and keeps its committed state', async () => {
    const { server, post, get, sandbox, token } = await start({ PERDURE_SERVER_SHUTDOWN_DRAIN_TIMEOUT_MS: '600000' })
    const { runId } = await bodyOf(post('/agents/deaf/stream', {}))
    const ended = server.kill('SIGTERM')
    await expect.poll(async () => (await get('/health/ready')).status).toBe(503)
    // A second signal right after the first counts as the same request.
    const again = setInterval(() => server.process.kill('SIGTERM'), 100)

    const { code } = await ended
    clearInterval(again)
    expect(code).not.toBeNull()

    const next = await startServer(sandbox)
    const run = await bodyOf(fetch(`${next.url}/runs/${runId}`, { headers: bearer(token) }))
    expect(['shutdown', 'interrupted']).toContain(run.finishReason)
    await next.kill('SIGTERM')
  })

  it('fails with a typed error when another process has the database open', async () => {
    const { server, sandbox } = await start()

    const second = await perdure(sandbox, ['server', '--config', LEDGER_CONFIG])

    expect(second.code).toBe(2)
    expect(second.stderr).toContain('error[storage-locked]')
    expect(second.stderr).toContain('hint:')
    expect(second.stdout).toBe('')
    await server.kill('SIGTERM')
  })

  it('releases the file when it is killed', async () => {
    const { server, sandbox } = await start()
    await server.kill('SIGKILL')

    const next = await startServer(sandbox)
    expect((await next.kill('SIGTERM')).code).toBe(0)
  })

  it('keeps everything it acknowledged when it is killed right after', async () => {
    const { server, sandbox, token, post } = await start()
    const { runId, result } = await bodyOf(post('/agents/ledger/run', { input: { name: 'one', number: 21 } }))
    await server.kill('SIGKILL')

    const next = await startServer(sandbox)
    const run = await bodyOf(fetch(`${next.url}/runs/${runId}`, { headers: bearer(token) }))
    expect(run).toMatchObject({ status: 'completed', result })
    await next.kill('SIGTERM')
  })

  it('leaves no run as running after it is killed and started again', async () => {
    const { server, sandbox, token, post } = await start()
    const stream = { input: { count: 1_000_000, everyMs: 10 } }
    const runIds = await Promise.all(
      Array.from({ length: 5 }, async () => (await bodyOf(post('/agents/stream/stream', stream))).runId as string),
    )
    await server.kill('SIGKILL')

    const restartedAt = performance.now()
    const next = await startServer(sandbox)
    const read = (runId: string) => bodyOf(fetch(`${next.url}/runs/${runId}`, { headers: bearer(token) }))
    const runs = await Promise.all(runIds.map(read))

    expect(runs).toEqual(runIds.map(() => expect.objectContaining({ status: 'failed', finishReason: 'interrupted' })))
    expect(performance.now() - restartedAt).toBeLessThan(RECOVERY_MS)
    await next.kill('SIGTERM')
  })

  it('streams a run over SSE from its first event and resumes after a disconnect without loss or repeats', async () => {
    const { server, post, token } = await start()
    const { runId } = await bodyOf(post('/agents/stream/stream', { input: { count: 60, everyMs: 10 } }))
    const ids: string[] = []
    const types: string[] = []
    let endedAt = Number.NaN

    const read = async (lastEventId: string | undefined, atMost: number) => {
      const cut = new AbortController()
      const headers = {
        accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      }
      const response = await fetch(`${server.url}/runs/${runId}/events`, {
        headers: { ...headers, authorization: bearer(token).authorization },
        signal: cut.signal,
      })
      if (response.status === 204 || response.body === null) return 'ended'
      let buffer = ''
      let count = 0
      try {
        for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
          buffer += chunk
          for (let end = buffer.indexOf('\n\n'); end !== -1; end = buffer.indexOf('\n\n')) {
            const block = buffer.slice(0, end)
            buffer = buffer.slice(end + 2)
            const type = /^event: (.*)$/m.exec(block)?.[1]
            const id = /^id: (.*)$/m.exec(block)?.[1]
            if (type === undefined || id === undefined) continue
            types.push(type)
            ids.push(id)
            if (type === 'run.completed') endedAt = performance.now()
            if (++count >= atMost) cut.abort()
          }
        }
      } catch {
        return 'cut'
      }
      return 'closed'
    }

    let state = 'cut'
    while (state === 'cut') state = await read(ids.at(-1), 7)

    expect(await read(ids.at(-1), 1)).toBe('ended')
    expect(performance.now() - endedAt).toBeLessThan(STREAM_END_MS)
    expect(new Set(ids).size).toBe(ids.length)
    expect(types).toEqual(['run.started', ...Array(60).fill('text.delta'), 'run.completed'])
    await server.kill('SIGTERM')
  })
})
