import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createSandbox, createToken, LEDGER_CONFIG, perdure, startServer } from './perdure-process.ts'

/** Slack for a busy machine, where everything takes longer. */
const SLOWNESS = 10
/** Promised: 1 s in the process that revokes a token, 2 s in any other. */
const SAME_PROCESS_MS = 1_000 * SLOWNESS
const OTHER_PROCESS_MS = 2_000 * SLOWNESS

/** Starts a server and event streams of a run that does not end, each opened with its own token. */
async function openStreams(count: number) {
  const sandbox = createSandbox()
  const admin = await createToken(sandbox)
  const server = await startServer(sandbox)
  const post = (path: string, body: unknown) =>
    fetch(`${server.url}${path}`, { method: 'POST', headers: bearer(admin), body: JSON.stringify(body) })
  const { runId } = await bodyOf(post('/agents/slow/stream', { input: { ms: 600_000 } }))
  const streams = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const minted = await bodyOf(post('/tokens', { name: `watcher ${n}`, scopes: ['runs:read'] }))
      const response = await fetch(`${server.url}/runs/${runId}/events`, {
        headers: { ...bearer(minted.token), Accept: 'text/event-stream' },
      })
      const state = { isOver: false, endedAt: 0 }
      const ended = response.text().then((text) => {
        Object.assign(state, { isOver: true, endedAt: performance.now() })
        return text
      })
      // Ignore the rejection of a stream that is still open when the test kills the server.
      ended.catch(() => undefined)
      return { id: minted.id, token: minted.token, status: response.status, state, ended }
    }),
  )
  const remove = (id: string) => fetch(`${server.url}/tokens/${id}`, { method: 'DELETE', headers: bearer(admin) })
  return { sandbox, admin, server, streams, remove, runId }
}

describe('a revoked token', () => {
  it('loses its streams when revoked over HTTP, while other tokens keep their streams', async () => {
    const { server, streams, remove } = await openStreams(2)
    const [lost, kept] = streams
    if (lost === undefined || kept === undefined) throw new Error('expected two streams')
    expect(streams.map(({ status }) => status)).toEqual([200, 200])

    expect((await remove(lost.id)).status).toBe(204)
    const revokedAt = performance.now()
    const text = await lost.ended

    expect(lost.state.endedAt - revokedAt).toBeLessThanOrEqual(SAME_PROCESS_MS)
    expect(text).toContain('event: run.started')
    expect(kept.state.isOver).toBe(false)
    const again = await fetch(`${server.url}/agents`, { headers: bearer(lost.token) })
    expect(await bodyOf(Promise.resolve(again))).toMatchObject({ error: 'auth-revoked' })
    await server.kill('SIGKILL')
  })

  it('loses its streams when revoked from the command line while the server runs', async () => {
    const { sandbox, server, streams } = await openStreams(2)
    const [lost, kept] = streams
    if (lost === undefined || kept === undefined) throw new Error('expected two streams')

    const revoked = await perdure(sandbox, ['token', 'revoke', lost.id, '--config', LEDGER_CONFIG])
    const revokedAt = performance.now()
    expect(revoked.code).toBe(0)
    await lost.ended

    expect(lost.state.endedAt - revokedAt).toBeLessThanOrEqual(OTHER_PROCESS_MS)
    expect(kept.state.isOver).toBe(false)
    const again = await fetch(`${server.url}/agents`, { headers: bearer(lost.token) })
    expect(again.status).toBe(401)
    await server.kill('SIGKILL')
  })

  it('invalidates the tokens that were created with it', async () => {
    const { sandbox, server, admin } = await openStreams(0)
    const mint = (token: string) =>
      fetch(`${server.url}/tokens`, {
        method: 'POST',
        headers: bearer(token),
        body: JSON.stringify({ name: 'child', scopes: ['agents:read', 'tokens:create'] }),
      })
    const parent = await bodyOf(mint(admin))
    const child = await bodyOf(mint(parent.token))
    const withChild = () => fetch(`${server.url}/agents`, { headers: bearer(child.token) })
    expect((await withChild()).status).toBe(200)

    await perdure(sandbox, ['token', 'revoke', parent.id, '--config', LEDGER_CONFIG])

    expect((await withChild()).status).toBe(401)
    await server.kill('SIGKILL')
  })
})
