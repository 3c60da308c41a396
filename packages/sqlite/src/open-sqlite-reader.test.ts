import { copyFileSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Encryption } from './file/encryption.ts'
import { openSqliteReader } from './open-sqlite-reader.ts'
import { openSqliteStorage } from './open-sqlite-storage.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-reader-'))
  path = join(directory, 'data.db')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

const run = aRun({ id: 'a' })
const insert = [{ type: 'run.insert', run }] as const

async function fill(encryption?: Encryption): Promise<void> {
  const storage = await openSqliteStorage({ path, encryption })
  await storage.unitOfWork.commit(insert)
  await storage.close()
}

const passphrase = (text: string): Encryption => ({ passphrase: new TextEncoder().encode(text) })

describe('openSqliteReader', () => {
  it('reads what a server has committed, while that server uses the file', async () => {
    const storage = await openSqliteStorage({ path })
    onTestFinished(() => storage.close())
    const reader = await openSqliteReader({ path })

    expect(await reader.runs.find('a', EVERY_ROW)).toBeUndefined()
    await storage.unitOfWork.commit(insert)

    expect(await reader.runs.find('a', EVERY_ROW)).toEqual(run)
    await reader.close()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'b' }) }])
    expect(await storage.runs.find('b', EVERY_ROW)).toBeDefined()
  })

  it('refuses every commit, and leaves the server able to commit', async () => {
    const storage = await openSqliteStorage({ path })
    onTestFinished(() => storage.close())
    const reader = await openSqliteReader({ path })

    await expect(reader.unitOfWork.commit(insert)).rejects.toMatchObject({ code: 'storage-failed' })
    expect(await reader.runs.find('a', EVERY_ROW)).toBeUndefined()
    expect(await storage.unitOfWork.commit(insert)).toMatchObject({ committed: true })
    await reader.close()
  })

  it('takes no lease: a server can start beside it, and two readers can be open', async () => {
    await fill()
    const readers = [await openSqliteReader({ path }), await openSqliteReader({ path })]

    const storage = await openSqliteStorage({ path })
    for (const reader of readers) expect(await reader.runs.find('a', EVERY_ROW)).toEqual(run)

    await Promise.all(readers.map((reader) => reader.close()))
    await storage.close()
  })

  it('changes neither the database nor its folder', async () => {
    await fill()
    const files = readdirSync(directory)
    const content = readFileSync(path)

    const reader = await openSqliteReader({ path })
    expect(await reader.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).toMatchObject({ items: [run] })
    await reader.close()

    expect(readFileSync(path).equals(content)).toBe(true)
    // SQLite may leave an empty log and its index beside a file that it only reads.
    expect(readdirSync(directory).filter((file) => !/-(wal|shm)$/.test(file))).toEqual(files)
  })

  it('leaves the mark of an unclean stop, so that the next start still checks the file', async () => {
    const storage = await openSqliteStorage({ path })
    copyFileSync(path, join(directory, 'crashed.db'))
    await storage.close()
    path = join(directory, 'crashed.db')

    await (await openSqliteReader({ path })).close()

    const database = new Database(path, { readonly: true })
    expect(database.prepare("SELECT value FROM meta WHERE name = 'clean_shutdown'").pluck().get()).toBe('0')
    database.close()
  })

  it('reports its files as not writable', async () => {
    await fill()
    const reader = await openSqliteReader({ path })

    expect(await reader.status()).toMatchObject({ writable: false, dbBytes: readFileSync(path).length })
    await reader.close()
  })

  it.each<[string, () => unknown]>([
    ['missing', () => undefined],
    ['empty', () => writeFileSync(path, '')],
  ])('refuses a file that is %s, and does not create it', async (_, prepare) => {
    prepare()
    const files = readdirSync(directory)

    await expect(openSqliteReader({ path })).rejects.toMatchObject({
      kind: 'config-invalid',
      message: expect.stringContaining(path),
      hint: expect.stringContaining('storage.path'),
    })
    expect(readdirSync(directory)).toEqual(files)
  })

  it('refuses a database with pending migrations, which it does not apply', async () => {
    await fill()
    const database = new Database(path)
    const newest = database.prepare('SELECT max(version) FROM schema_migrations').pluck().get()
    database.prepare('DELETE FROM schema_migrations WHERE version = ?').run(newest)
    database.pragma(`user_version = ${Number(newest) - 1}`)
    database.close()

    await expect(openSqliteReader({ path })).rejects.toMatchObject({
      ...{ kind: 'migration-failed', hint: expect.stringContaining('perdure migrate') },
    })
    const after = new Database(path, { readonly: true })
    expect(after.prepare('SELECT max(version) FROM schema_migrations').pluck().get()).toBe(Number(newest) - 1)
    after.close()
  })

  it('refuses a file that is not a database, a file with two names and a foreign database', async () => {
    writeFileSync(path, 'x'.repeat(8_192))
    await expect(openSqliteReader({ path })).rejects.toMatchObject({ kind: 'storage-corrupt' })

    rmSync(path)
    new Database(path).exec('CREATE TABLE notes (text TEXT)').close()
    await expect(openSqliteReader({ path })).rejects.toMatchObject({ kind: 'storage-corrupt' })

    rmSync(path)
    await fill()
    linkSync(path, join(directory, 'other.db'))
    await expect(openSqliteReader({ path })).rejects.toMatchObject({ kind: 'storage-shared' })
  })

  it('reads an encrypted database with its passphrase only', async () => {
    await fill(passphrase('correct horse'))

    const reader = await openSqliteReader({ path, encryption: passphrase('correct horse') })
    expect(await reader.runs.find('a', EVERY_ROW)).toEqual(run)
    await reader.close()
    await expect(openSqliteReader({ path, encryption: passphrase('wrong') })).rejects.toMatchObject({
      kind: 'encryption-passphrase-wrong',
    })
  })
})
