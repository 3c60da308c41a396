import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInMemoryStorage } from '@perdure/in-memory'
import { openSqliteStorage } from '@perdure/sqlite'
import { describe, expect, it } from 'vitest'
import { actions, CONFIG, directory, failing, MARKER, mint, start, useAuditFolder } from './audit-server.fixture.ts'

useAuditFolder()

describe('the audit chain in the main database', () => {
  it('records only privileged actions, each with its request', async () => {
    const { call, entries, admin, verify } = await start(CONFIG)
    const run = (await (await call('/agents/echo/run', admin, { input: 1 })).json()) as { readonly runId: string }
    await call(`/runs/${run.runId}/replay`, admin, {}, { 'x-request-id': 'r1' })
    await call('/agents', admin)

    expect(await entries('&action=runs.replay')).toEqual([
      expect.objectContaining({
        ...{ action: 'runs.replay', method: 'POST', route: '/v1/runs/:runId/replay', target: run.runId },
        ...{ decision: 'allowed', requestId: 'r1', ip: '127.0.0.1', detail: { raw: false } },
        actor: expect.objectContaining({ kind: 'token', subject: 'admin:*' }),
      }),
    ])
    expect(actions(await entries())).not.toContain('agents.list')
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('records a denied privileged request and a replayed answer', async () => {
    const { call, entries, admin } = await start(CONFIG)
    const reader = await mint('agents:read', CONFIG)
    const run = (await (await call('/agents/echo/run', admin, { input: 1 })).json()) as { readonly runId: string }
    const before = (await entries()).length
    const again = () => call(`/runs/${run.runId}/replay`, admin, {}, { 'idempotency-key': 'k' })
    await call(`/runs/${run.runId}/replay`, reader, {})
    await again()
    expect((await again()).headers.get('idempotency-replayed')).toBe('true')

    expect((await entries()).slice(before)).toMatchObject([
      { action: 'runs.replay', decision: 'denied', status: 403, detail: { error: 'scope-denied' } },
      { action: 'runs.replay', decision: 'allowed', detail: { raw: false } },
      { action: 'runs.replay', decision: 'allowed', status: 200, detail: { replayed: true } },
    ])
  })

  it('makes the server refuse privileged requests while entries cannot be written', async () => {
    const { storage, fail } = failing(createInMemoryStorage())
    const { call, admin, entries } = await start(CONFIG, storage)
    const run = (await (await call('/agents/echo/run', admin, { input: MARKER })).json()) as { readonly runId: string }
    const repeat = { 'idempotency-key': 'k' }
    await call(`/runs/${run.runId}/replay`, admin, {}, repeat)
    const before = actions(await entries())

    fail(true)
    for (const response of [
      await call(`/runs/${run.runId}/replay`, admin, {}),
      await call(`/runs/${run.runId}/replay`, admin, {}, { accept: 'text/event-stream' }),
      await call(`/runs/${run.runId}/replay`, admin, {}, repeat),
      await call('/audit/export', admin),
    ]) {
      const text = await response.text()
      expect([response.status, JSON.parse(text).error]).toEqual([503, 'audit-unavailable'])
      expect(response.headers.get('retry-after')).toBe('5')
      expect(text).not.toContain(MARKER)
    }
    expect((await call('/agents', admin)).status).toBe(200)
    fail(false)
    expect(actions(await entries())).toEqual(before)
  })

  it('publishes an event for every entry', async () => {
    const storage = createInMemoryStorage()
    const { call, admin, entries } = await start(CONFIG, storage)
    await (await call('/audit/export', admin)).text()

    const events = await storage.events.read({ topic: 'audit/events' }, { after: 0, limit: 99 })
    expect(events.map(({ payload }) => JSON.parse(payload))).toEqual(await entries())
  })

  it('writes a signed checkpoint when the server stops, and detects entries removed after it', async () => {
    const first = await start(CONFIG)
    await (await first.call('/audit/export', first.admin)).text()
    await first.server.stop()
    expect(readdirSync(directory)).toContain('data.db.audit-checkpoints')

    const storage = await openSqliteStorage({ path: join(directory, 'data.db') })
    await storage.unitOfWork.commit([{ type: 'audit.prune', throughSeq: 1 }])
    await storage.close()
    const second = await start(CONFIG)

    expect(await second.verify()).toMatchObject({ ok: false, reason: 'base-forged', firstBadSeq: 2 })
  })

  it('cannot be exported or verified with only the scope to read it', async () => {
    const { call } = await start(CONFIG)
    const reader = await mint('audit:read', CONFIG)

    expect((await call('/audit', reader)).status).toBe(200)
    expect((await call('/audit/export', reader)).status).toBe(403)
    expect((await call('/audit/verify', reader, {})).status).toBe(403)
    expect((await call('/audit?since=yesterday', reader)).status).toBe(400)
    expect((await call('/audit?cursor=x', reader)).status).toBe(400)
  })
})
