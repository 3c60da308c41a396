import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toJsonText } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { PAGE_BYTES } from './connection.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-inspect-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Creates a database of a few hundred pages. */
async function createDatabase(): Promise<void> {
  const storage = await openSqliteStorage({ path })
  const runs = Array.from({ length: 300 }, (_, index) =>
    aRun({ id: `run-${index}`, input: toJsonText('x'.repeat(2_000)) }),
  )
  await storage.unitOfWork.commit(runs.map((run) => ({ type: 'run.insert', run })))
  await storage.close()
}

function change(sql: string): void {
  const database = new Database(path)
  database.exec(sql)
  database.close()
}

/** Overwrites a page of the table `runs`. */
function damagePage(): void {
  const bytes = readFileSync(path)
  const middle = Math.floor(bytes.length / PAGE_BYTES / 2) * PAGE_BYTES
  bytes.fill(0xff, middle, middle + PAGE_BYTES)
  writeFileSync(path, bytes)
}

async function expectRefusal(kind: string): Promise<void> {
  const before = readFileSync(path)

  await expect(openSqliteStorage({ path })).rejects.toMatchObject({ kind, hint: expect.any(String) })

  expect(readFileSync(path).equals(before)).toBe(true)
}

describe('openSqliteStorage on an unusable file', () => {
  it.each([
    ['short', 'hello'],
    ['long', 'This is not a database.\n'.repeat(1_000)],
  ])('rejects a %s text file and leaves it unchanged', async (_, text) => {
    writeFileSync(path, text)

    await expectRefusal('storage-corrupt')

    expect(readdirSync(directory).sort()).toEqual(['data.db', 'data.db.lock'])
  })

  it('rejects the database of another program and leaves it unchanged', async () => {
    change('CREATE TABLE theirs (a)')

    await expectRefusal('storage-corrupt')
  })

  it('rejects a truncated file', async () => {
    await createDatabase()
    truncateSync(path, 10 * PAGE_BYTES)

    await expectRefusal('storage-corrupt')
  })

  it('rejects damaged pages after an unclean shutdown', async () => {
    await createDatabase()
    change("UPDATE meta SET value = '0' WHERE name = 'clean_shutdown'")
    damagePage()

    await expectRefusal('storage-corrupt')
  })

  it('rejects a file with an applied migration that differs from the released migration', async () => {
    await createDatabase()
    change(`UPDATE schema_migrations SET checksum = '${'0123456789abcdef'.repeat(4)}' WHERE version = 2`)

    await expectRefusal('migration-failed')
  })

  it.each([
    ['a checksum with a wrong digit', "checksum = replace(checksum, 'a', 'b') WHERE version = 2"],
    ['an invalid checksum', "checksum = substr(checksum, 1, 63) || '~' WHERE version = 2"],
    ['an empty checksum', "checksum = '' WHERE version = 2"],
    ['an invalid migration version', 'version = 0 WHERE version = 2'],
  ])('reports %s as damage, not as an edited migration', async (_, set) => {
    await createDatabase()
    change(`UPDATE schema_migrations SET ${set}`)

    await expectRefusal('storage-corrupt')
  })

  it.each([
    ['a missing migration record', 'DELETE FROM schema_migrations WHERE version > 3'],
    ['an outdated schema version', 'PRAGMA user_version = 3'],
    ['a negative schema version', 'PRAGMA user_version = -7'],
  ])('reports %s as damage and applies no migration twice', async (_, sql) => {
    await createDatabase()
    change(sql)

    await expectRefusal('storage-corrupt')
  })

  it('rejects a newer schema and leaves the file unchanged byte for byte', async () => {
    await createDatabase()
    change('PRAGMA user_version = 99')

    await expectRefusal('storage-newer-schema')
  })
})

describe('openSqliteStorage on a usable file', () => {
  it('succeeds after an unclean shutdown', async () => {
    await createDatabase()
    change("UPDATE meta SET value = '0' WHERE name = 'clean_shutdown'")

    const storage = await openSqliteStorage({ path })

    expect((await storage.status()).writable).toBe(true)
    await storage.close()
  })

  it('skips the full check after a clean shutdown', async () => {
    await createDatabase()
    damagePage()

    const storage = await openSqliteStorage({ path })

    expect((await storage.status()).writable).toBe(true)
    await storage.close()
  })

  it('treats an empty file as a new database', async () => {
    writeFileSync(path, '')

    const storage = await openSqliteStorage({ path })

    expect((await storage.events.head()).position).toBe(0)
    await storage.close()
  })
})
