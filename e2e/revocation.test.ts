import { describe, expect, it } from 'vitest'
import { bearer, bodyOf, createPlace, createToken, LEDGER_CONFIG, perdure, startServer } from './perdure-process.ts'

/** A server, and streams of a run that does not end, each held open by a token of its own. */
async function openStreams(count: number) {
  const place = createPlace()
  const admin = await createToken(place)
  const server = await startServer(place)
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
      // One that stays open ends with the server.
      ended.catch(() => undefined)
      return { id: minted.id, token: minted.token, status: response.status, state, ended }
    }),
  )
  const remove = (id: string) => fetch(`${server.url}/tokens/${id}`, { method: 'DELETE', headers: bearer(admin) })
  return { place, admin, server, streams, remove, runId }
}

describe('a revoked token', () => {
  it('loses its streams to this process, and others keep theirs', async () => {
    const { server, streams, remove } = await openStreams(2)
    const [lost, kept] = streams
    if (lost === undefined || kept === undefined) throw new Error('two streams were asked for')
    expect(streams.map(({ status }) => status)).toEqual([200, 200])

    expect((await remove(lost.id)).status).toBe(204)
    const text = await lost.ended

    expect(text).toContain('event: run.started')
    expect(kept.state.isOver).toBe(false)
    const again = await fetch(`${server.url}/agents`, { headers: bearer(lost.token) })
    expect(await bodyOf(Promise.resolve(again))).toMatchObject({ error: 'auth-revoked' })
    await server.kill('SIGKILL')
  })

  it('loses its streams when the command line revokes it beside the running server', async () => {
    const { place, server, streams } = await openStreams(2)
    const [lost, kept] = streams
    if (lost === undefined || kept === undefined) throw new Error('two streams were asked for')

    const revoked = await perdure(place, ['token', 'revoke', lost.id, '--config', LEDGER_CONFIG])
    const revokedAt = performance.now()
    expect(revoked.code).toBe(0)
    await lost.ended

    console.log(`the stream ended ${Math.round(lost.state.endedAt - revokedAt)} ms after the command`)
    expect(kept.state.isOver).toBe(false)
    const again = await fetch(`${server.url}/agents`, { headers: bearer(lost.token) })
    expect(again.status).toBe(401)
    await server.kill('SIGKILL')
  })

  it('takes along what it has minted, and the audit chain knows of it', async () => {
    const { place, server, admin } = await openStreams(0)
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

    await perdure(place, ['token', 'revoke', parent.id, '--config', LEDGER_CONFIG])

    expect((await withChild()).status).toBe(401)
    await server.kill('SIGKILL')
  })
})
