import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONFIG, directory, FILE, MARKER, mint, start, useAuditFolder } from './audit-server.fixture.ts'
import { connect } from './web-socket-client.fixture.ts'

useAuditFolder()

describe('the audit chain in a separate file', () => {
  it('records accepted and denied WebSocket upgrades, but only counts upgrades without a valid credential', async () => {
    const first = await start(FILE)
    const lacking = await mint('tokens:read', FILE)
    const ticketOf = async (token: string) => {
      const response = await first.call('/session/ws-ticket', token, {})
      return ((await response.json()) as { readonly ticket: string }).ticket
    }
    const opened = await connect(first.url, { ticket: await ticketOf(first.admin) })
    for (const ticket of [await ticketOf(lacking), 'unknown', 'unknown']) {
      await (await connect(first.url, { ticket })).closed
    }
    await opened.initialize()
    await opened.call('run.cancel', { runId: 'run_none' })
    opened.socket.close()
    await opened.closed
    await first.server.stop()
    const entries = await (await start(FILE)).entries()

    expect(entries.filter(({ action }) => action === 'runs.abort')).toMatchObject([
      { method: 'run.cancel', route: '/v1/ws', target: 'run_none', status: 404, actor: { subject: 'admin:*' } },
    ])
    const upgrade = { action: 'realtime.open-ws', method: 'GET', route: '/v1/ws', durationMs: expect.any(Number) }
    expect(entries.filter(({ action }) => action === 'realtime.open-ws')).toMatchObject([
      { ...upgrade, decision: 'allowed', status: 101, actor: { kind: 'token', subject: 'admin:*' } },
      {
        ...upgrade,
        decision: 'denied',
        status: 403,
        actor: { subject: 'tokens:read' },
        detail: { error: 'scope-denied' },
      },
    ])
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'auth.failed', detail: { count: 2, 'auth-invalid': 2 } }),
    )
  })

  it('records every request once, with the details of its action', async () => {
    const { call, entries, admin, verify } = await start(FILE)
    const reader = await mint('agents:read', FILE)
    const run = (await (await call('/agents/echo/run', admin, { input: 1 })).json()) as { readonly runId: string }
    await call('/agents', reader)
    await call('/agents/nobody', reader)
    await call('/audit', reader)
    await call(`/runs/${run.runId}/replay`, admin, {})

    const mine = (await entries()).filter(({ action }) => !action.startsWith('tokens.'))
    expect(mine).toMatchObject([
      { action: 'agents.run', method: 'POST', route: '/v1/agents/:agentId/run', target: 'echo', status: 200 },
      { action: 'agents.list', decision: 'allowed', status: 200, durationMs: expect.any(Number) },
      { action: 'agents.get', decision: 'allowed', status: 404, detail: { error: 'agent-not-found' } },
      { action: 'audit.list', decision: 'denied', status: 403 },
      { action: 'runs.replay', status: 200, target: run.runId, detail: { raw: false } },
    ])
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('counts failed authentications in one entry per address and minute', async () => {
    const { call, server } = await start(FILE)
    for (let n = 0; n < 5; n++) await call('/agents', 'junk')
    await server.stop()

    const { entries } = await start(FILE)
    expect(await entries('&action=auth.failed')).toEqual([
      expect.objectContaining({ decision: 'denied', ip: '127.0.0.1', detail: { count: 5, 'auth-invalid': 5 } }),
    ])
  })

  it('stores no plain text in its file', async () => {
    const { call, admin, entries } = await start(FILE)
    await call(`/agents/${MARKER}`, admin)
    await entries()
    const bytesOf = (name: string) =>
      Buffer.concat(
        readdirSync(directory)
          .filter((file) => file.startsWith(name))
          .map((file) => readFileSync(join(directory, file))),
      )

    expect(bytesOf('audit.db').includes(MARKER)).toBe(false)
    expect(bytesOf('audit.db').includes('agents.get')).toBe(false)
    expect(bytesOf('audit.db').length).toBeGreaterThan(10_000)
  })

  it('does not open with a wrong passphrase', async () => {
    const { server } = await start(FILE)
    await server.stop()
    process.env.TEST_OTHER_PASSPHRASE = 'other'
    const audit = { ...FILE.audit, passphraseRef: 'env:TEST_OTHER_PASSPHRASE' }

    await expect(start({ ...FILE, audit })).rejects.toMatchObject({ kind: 'encryption-passphrase-wrong' })
  })

  it('is reported as encrypted in /health if the main database is encrypted too', async () => {
    const storage = { ...CONFIG.storage, encryption: { enabled: true, passphraseRef: 'env:TEST_AUDIT_PASSPHRASE' } }
    const { url } = await start({ ...FILE, storage })

    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      status: 'ok',
      checks: { encryption: { status: 'ok', enabled: true, cipher: 'chacha20' } },
    })
  })

  it('has its passphrase reference listed as resolved in /health/secrets', async () => {
    const { call, admin } = await start(FILE)

    expect(await (await call('/health/secrets', admin)).json()).toEqual({
      active: 'env',
      fallbackChain: ['env', 'file', 'keyring'],
      references: [
        { field: 'auth.pepperRef', scheme: 'env', resolved: true },
        { field: 'audit.passphraseRef', scheme: 'env', resolved: true },
      ],
    })
  })
})
