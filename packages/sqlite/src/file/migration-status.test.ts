import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../migrations/migrations.ts'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { openConnection } from './connection.ts'
import { openSqliteExport } from './export-database.ts'
import { applyMigrations } from './migrate.ts'
import { migrate, migrationStatus } from './migration-status.ts'

const summaries = MIGRATIONS.map(({ version, name }) => ({ version, name }))

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-migrations-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('migrationStatus', () => {
  it('lists every migration as pending for a missing file and does not create the file', async () => {
    expect(await migrationStatus(path)).toEqual({ applied: [], pending: summaries })
    expect(existsSync(path)).toBe(false)
  })

  it('lists the applied migrations while a server is running', async () => {
    const storage = await openSqliteStorage({ path, now: () => 7 })

    const status = await migrationStatus(path)
    await storage.close()

    expect(status).toEqual({ applied: summaries.map((summary) => ({ ...summary, appliedAt: 7 })), pending: [] })
  })

  it('refuses a file whose content was moved to PostgreSQL', async () => {
    await (await openSqliteStorage({ path })).close()
    const file = await openSqliteExport({ path })
    file.markMoved('PostgreSQL db.internal/perdure, schema perdure')
    file.close()

    await expect(migrationStatus(path)).rejects.toMatchObject({ kind: 'storage-moved' })
  })
})

describe('migrate', () => {
  it('creates a database with the newest schema', async () => {
    const status = await migrate(path, { now: () => 9 })

    expect(status.pending).toEqual([])
    expect(status).toEqual({
      ...(await migrationStatus(path)),
      change: { from: 0, to: MIGRATIONS.length, copy: undefined },
    })
  })

  it.each([
    [true, ['data.db.before-27']],
    [false, []],
  ])('keeps a copy if keepsCopy is %s', async (keepsCopy, copies) => {
    const { database } = openConnection(path)
    applyMigrations(database, { path, now: () => 1, migrations: MIGRATIONS.slice(0, 26) })
    database.close()

    await migrate(path, { keepsCopy })

    expect(readdirSync(directory).filter((name) => name.includes('.before-'))).toEqual(copies)
  })

  it('fails while a server is running', async () => {
    const storage = await openSqliteStorage({ path })

    await expect(migrate(path)).rejects.toMatchObject({ kind: 'storage-locked' })

    await storage.close()
  })

  it('leaves a database that a server can open', async () => {
    await migrate(path)
    const storage = await openSqliteStorage({ path })

    expect((await storage.status()).writable).toBe(true)

    await storage.close()
  })
})
