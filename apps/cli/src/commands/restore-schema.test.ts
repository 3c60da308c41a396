import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { NO_AUDIT_KEY } from '@perdure/ports'
import { createBackup, openSqliteStorage, schemaVersion } from '@perdure/sqlite'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

/** A database of schema 25. */
const OLD = gunzipSync(readFileSync(join(import.meta.dirname, '../../../../e2e/golden/open-runs-25.db.gz')))

describe('perdure restore after an upgrade', () => {
  const dir = temporaryDir()
  const path = () => join(dir(), 'data.db')

  const perdure = (...args: readonly string[]) => perdureWith({}, ...args)
  async function perdureWith(more: Record<string, string>, ...args: readonly string[]) {
    const env = { PERDURE_STORAGE_PATH: path(), PERDURE_AUTH_KIND: 'none', ...more }
    const terminal = recordingTerminal({ cwd: dir(), env })
    const exitCode = await runCli(args, terminal)
    return { exitCode, out: terminal.out(), err: terminal.err() }
  }

  it('keeps the schema of the backup although it records discarded audit entries, and leaves the copy alone', async () => {
    writeFileSync(path(), OLD, { mode: 0o600 })
    await perdure('backup', 'create', '--out', 'copy.db')
    const migrated = await perdure('migrate', 'up')
    expect(migrated.out).toMatch(/^migrated from schema version 25 to \d+; .*data\.db\.before-26 has version 25$/m)
    const copy = readFileSync(`${path()}.before-26`)
    const storage = await openSqliteStorage({ path: path() })
    const actor = { kind: 'system', subject: 'test' } as const
    const entry = { at: 1 as never, actor, action: 'test', decision: 'allowed' } as const
    await storage.unitOfWork.commit([{ type: 'audit.append', entry, keys: NO_AUDIT_KEY }])
    await storage.close()

    const refused = await perdure('restore', 'copy.db')
    const [, head = ''] = /--accept-audit-head (\S+?);/.exec(refused.err) ?? []
    const restored = await perdure('restore', 'copy.db', '--accept-audit-head', head)

    expect([refused.exitCode, restored.exitCode]).toEqual([2, 0])
    expect(restored.out).toMatch(/^schema version 25: the release that wrote the backup can start on it; .* to \d+$/m)
    expect(await schemaVersion(path())).toMatchObject({ version: 25 })
    expect(readFileSync(`${path()}.before-26`).equals(copy)).toBe(true)

    await perdure('migrate', 'up')
    expect(readFileSync(`${path()}.before-26`).equals(copy)).toBe(true)
    expect(readdirSync(dir()).filter((name) => name.includes('.before-26'))).toHaveLength(2)
  })

  it('replaces the audit log alone with the copy that was made before its migration', async () => {
    const passphrase = 'correct horse battery staple'
    const audit = join(dir(), 'audit.db')
    writeFileSync(join(dir(), 'passphrase'), passphrase, { mode: 0o600 })
    writeFileSync(path(), OLD, { mode: 0o600 })
    const encryption = { passphrase: Buffer.from(passphrase) }
    await (await openSqliteStorage({ path: audit, encryption })).close()
    await createBackup(audit, { out: `${audit}.before-26`, encryption })

    const env = {
      PERDURE_AUDIT_ENABLED: 'true',
      PERDURE_AUDIT_PATH: audit,
      PERDURE_AUDIT_PASSPHRASE_REF: 'file:passphrase',
    }
    const { exitCode, out } = await perdureWith(env, 'restore', 'audit.db.before-26')

    expect(exitCode).toBe(0)
    expect(out).toMatch(/^restored .*audit\.db\nold file kept as .*audit\.db\.before-restore-/)
    expect(readFileSync(path()).equals(OLD)).toBe(true)
  })
})
