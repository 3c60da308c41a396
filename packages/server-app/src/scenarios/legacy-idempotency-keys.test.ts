import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { CONFIG, directory, mint, start, useAuditFolder } from './audit-server.fixture.ts'

useAuditFolder()

const hashed = (identity: readonly string[]) => createHash('sha256').update(JSON.stringify(identity)).digest('hex')

describe('a database with hashed idempotency keys of an earlier release', () => {
  it('still yields the answers stored under the hashed keys', async () => {
    const first = await start(CONFIG)
    const token = await mint('sessions:write', CONFIG)
    const create = (server: typeof first, key: string) =>
      server.call('/sessions', token, { title: 'once' }, { 'idempotency-key': key })
    const made = await (await create(first, 'old')).text()
    await first.server.stop()
    const database = new DatabaseSync(join(directory, 'data.db'))
    const id = hashed(['sessions:write', 'POST', '/v1/sessions', 'old'])
    expect(database.prepare("UPDATE idempotency SET id = ? WHERE id LIKE '%:old'").run(id).changes).toBe(1)
    database.prepare("UPDATE meta SET value = '9000000000000' WHERE name = 'hashed_ids_until'").run()
    database.close()

    const second = await start(CONFIG)
    const again = await create(second, 'old')

    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await again.text()).toBe(made)
    expect((await create(second, 'new')).headers.has('idempotency-replayed')).toBe(false)
    expect((await create(second, 'new')).headers.get('idempotency-replayed')).toBe('true')
  })
})

describe('a database with answers that an earlier release has sealed', () => {
  it('yields none of them, and mints nothing twice', async () => {
    const first = await start(CONFIG)
    const mintChild = (server: typeof first, key: string) =>
      server.call('/tokens', first.admin, { name: 'ci', scopes: ['agents:read'] }, { 'idempotency-key': key })
    const { token } = (await (await mintChild(first, 'old')).json()) as { readonly token: string }
    await first.server.stop()
    const database = new DatabaseSync(join(directory, 'data.db'))
    const id = `${hashed(['admin:*', 'POST', '/v1/tokens']).slice(0, 32)}:old`
    expect(database.prepare("UPDATE idempotency SET id = ? WHERE id LIKE '%:old'").run(id).changes).toBe(1)
    database.close()

    const second = await start(CONFIG)
    const again = await mintChild(second, 'old')
    const text = await again.text()

    expect([again.status, JSON.parse(text)]).toMatchObject([409, { error: 'idempotency-conflict' }])
    expect(text).not.toContain(token)
    expect((await mintChild(second, 'new')).status).toBe(201)
  })
})
