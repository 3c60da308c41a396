import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EpochMs } from '@perdure/ports'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStorage, type SqliteStorage } from '../open-sqlite-storage.ts'
import { openSqliteExport, type SqliteExport } from './export-database.ts'

let folder: string
let path: string
const open: { close(): unknown }[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perdure-export-'))
  path = join(folder, 'data.db')
})
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
  rmSync(folder, { recursive: true, force: true })
})

async function storageOf(mode: 'server' | 'lib' = 'server'): Promise<SqliteStorage> {
  const storage = await openSqliteStorage({ path, mode })
  open.push(storage)
  return storage
}

async function exported(): Promise<SqliteExport> {
  const source = await openSqliteExport({ path })
  open.push(source)
  return source
}

const NOW = 1 as EpochMs
const session = (id: string) => ({ id, owner: 'ann', metadata: {}, createdAt: NOW, updatedAt: NOW })
const insert = (storage: SqliteStorage, id: string) =>
  storage.unitOfWork.commit([{ type: 'session.insert', session: session(id) }])

const rowsOf = (source: SqliteExport, name: string) => {
  const table = source.tables.find((one) => one.name === name)
  return table === undefined ? [] : [...source.rows(table)]
}

const refusalOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (refusal: unknown) => refusal,
  )
  return (error as { kind?: string } | undefined)?.kind
}

describe('the export of a database file', () => {
  it('reads the rows of a file that was shut down cleanly', async () => {
    const storage = await storageOf()
    await insert(storage, 'ses-2')
    await insert(storage, 'ses-1')
    const { epoch } = await storage.events.head()
    await storage.close()

    const source = await exported()

    expect(rowsOf(source, 'sessions').map(([id]) => id)).toEqual(['ses-1', 'ses-2'])
    expect(source).toMatchObject({ epoch, trimmedThrough: 0, legacyIdsUntil: 0, movedTo: undefined })
  })

  it('refuses a file that a server uses, that was not shut down cleanly, or that is missing', async () => {
    expect(await refusalOf(openSqliteExport({ path }))).toBe('config-invalid')
    const storage = await storageOf()
    expect(await refusalOf(openSqliteExport({ path }))).toBe('storage-locked')
    await storage.close()
    const file = new Database(path)
    file.prepare("UPDATE meta SET value = '0' WHERE name = 'clean_shutdown'").run()
    file.close()

    expect(await refusalOf(openSqliteExport({ path }))).toBe('copy-refused')

    await (await storageOf()).close()
    expect((await exported()).epoch).toMatch(/^[0-9a-f]{16}$/)
  })

  it('refuses a file with pending migrations', async () => {
    await (await storageOf()).close()
    const file = new Database(path)
    file.exec('DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)')
    file.pragma(`user_version = ${Number(file.pragma('user_version', { simple: true })) - 1}`)
    file.close()

    expect(await refusalOf(openSqliteExport({ path }))).toBe('migration-failed')
  })

  it('keeps everyone from writing while it is open, and changes nothing', async () => {
    await (await storageOf()).close()
    const beside = await storageOf('lib')
    const source = await exported()

    expect(await refusalOf(openSqliteStorage({ path }))).toBe('storage-locked')
    await expect(insert(beside, 'ses-1')).rejects.toMatchObject({ code: 'SQLITE_BUSY' })

    source.close()
    expect(await insert(beside, 'ses-1')).toMatchObject({ committed: true })
    await beside.close()
    expect(await insert(await storageOf(), 'ses-2')).toMatchObject({ committed: true })
  })

  it('keeps servers and commands from opening a file that is marked as moved', async () => {
    await (await storageOf()).close()
    const source = await exported()
    source.markMoved('PostgreSQL db/perdure, schema perdure')
    source.close()

    for (const mode of ['server', 'lib'] as const) {
      await expect(openSqliteStorage({ path, mode })).rejects.toMatchObject({
        kind: 'storage-moved',
        message: expect.stringContaining('PostgreSQL db/perdure, schema perdure'),
      })
    }
    expect((await exported()).movedTo).toBe('PostgreSQL db/perdure, schema perdure')
  })
})
