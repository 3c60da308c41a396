import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anEvent } from '@perdure/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../migrations/migrations.ts'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { appendToAuditChain, openAuditChainFile } from './audit-chain-file.ts'
import { createBackup } from './backup.ts'
import { checkDatabase } from './check-database.ts'
import { openConnection } from './connection.ts'
import { applyMigrations } from './migrate.ts'
import { schemaVersion } from './migration-status.ts'
import { restoreBackup } from './restore.ts'

const NEWEST = MIGRATIONS.length
/** The oldest schema with the tables of the audit chain. */
const FIRST_CHAIN = 13
const actor = { kind: 'system', subject: 'test' } as const
const entry = { at: anEvent().at, actor, action: 'test', decision: 'allowed' } as const

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-restore-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

function create(version: number) {
  const { database } = openConnection(path)
  applyMigrations(database, { path, now: () => 1, migrations: MIGRATIONS.slice(0, version) })
  database.close()
}

describe('restoreBackup', () => {
  it('keeps the schema of a backup that an earlier release wrote', async () => {
    create(FIRST_CHAIN)
    const out = join(directory, 'copy.db')
    await createBackup(path, { out })
    await (await openSqliteStorage({ path })).close()

    await restoreBackup(out, { path })

    expect(await schemaVersion(path)).toEqual({ version: FIRST_CHAIN, newest: NEWEST })
  })
})

describe('appendToAuditChain', () => {
  it.each([FIRST_CHAIN, 26, NEWEST])('appends to a file of schema %i and keeps that schema', async (version) => {
    create(version)

    await appendToAuditChain({ path }, { entry })
    await appendToAuditChain({ path }, { entry })

    expect(await schemaVersion(path)).toMatchObject({ version })
    expect((await openAuditChainFile({ path })).head.seq).toBe(2)
    expect(await checkDatabase(path)).toMatchObject({ isOk: true, audit: { entries: 2 } })
    expect(readdirSync(directory).filter((name) => name.includes('.before-'))).toEqual([])
    await (await openSqliteStorage({ path })).close()
    expect(await checkDatabase(path)).toMatchObject({ isOk: true, audit: { entries: 2 } })
  })

  it('refuses a file that a server holds', async () => {
    const storage = await openSqliteStorage({ path })

    await expect(appendToAuditChain({ path }, { entry })).rejects.toMatchObject({ kind: 'storage-locked' })
    await storage.close()
  })
})

describe('openSqliteStorage', () => {
  it('reports the file, its schema and what it has migrated', async () => {
    const opened: unknown[] = []
    const open = async () => (await openSqliteStorage({ path, onOpened: (one) => opened.push(one) })).close()
    create(26)
    await open()
    await open()

    const change = { from: 26, to: NEWEST, copy: `${path}.before-27` }
    expect(opened).toEqual([
      { path, schemaVersion: NEWEST, change },
      { path, schemaVersion: NEWEST, change: undefined },
    ])
  })
})
