import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anEvent, auditLogContract, factStoreContract, unitOfWorkContract } from '@perdure/testkit'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../migrations/migrations.ts'
import { openSqliteStorage } from '../open-sqlite-storage.ts'
import { inspectDatabase } from './inspect-database.ts'
import { applyMigrations } from './migrate.ts'
import { migrate, migrationStatus } from './migration-status.ts'
import { databaseOpener } from './open-database.ts'

const root = mkdtempSync(join(tmpdir(), 'perdure-encryption-'))
afterAll(() => rmSync(root, { recursive: true }))

const bytes = (text: string) => Buffer.from(text)
const encryption = { passphrase: bytes('correct horse battery staple') }
const MARKER = 'marker-that-stands-nowhere-else'
let files = 0
let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(root, 'one-'))
  path = join(directory, 'data.db')
})

const openFile = (mode: 'lib' | 'server') => () =>
  openSqliteStorage({ path: join(root, `${files++}.db`), synchronous: 'normal', mode, encryption })

// Encryption is invisible above the file layer, and deriving the key makes each open slow. Therefore only the suites
// that use the file most run here.
unitOfWorkContract({ name: 'encrypted SQLite file', open: openFile('lib') })
factStoreContract({ name: 'encrypted SQLite file', open: openFile('lib') })
auditLogContract({ name: 'encrypted SQLite file behind its worker', open: openFile('server') })

/** The digest of every file in the directory except the lock. */
const digests = () =>
  Object.fromEntries(
    readdirSync(directory)
      .filter((name) => !name.endsWith('.lock'))
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(directory, name)))
          .digest('hex'),
      ]),
  )

const allBytes = () => Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name))))

async function fill(options: Partial<Parameters<typeof openSqliteStorage>[0]> = { encryption }): Promise<void> {
  const storage = await openSqliteStorage({ path, ...options })
  const events = [anEvent({ topic: MARKER, payload: JSON.stringify({ text: MARKER }) as never })]
  await storage.unitOfWork.commit([{ type: 'event.append', events }])
  await storage.close()
}

const refusalOf = (options: Partial<Parameters<typeof openSqliteStorage>[0]>) =>
  openSqliteStorage({ path, ...options }).then(
    () => 'opened',
    (error: { kind?: string }) => error.kind,
  )

describe('an encrypted database', () => {
  it('contains no plain text in its file or in its open write-ahead log', async () => {
    const storage = await openSqliteStorage({ path, encryption })
    const events = [anEvent({ topic: MARKER, payload: JSON.stringify({ text: MARKER }) as never })]
    await storage.unitOfWork.commit([{ type: 'event.append', events }])

    expect(readdirSync(directory)).toContain('data.db-wal')
    expect(storage.cipher).toBe('chacha20')
    for (const text of [MARKER, 'SQLite format 3', 'CREATE TABLE']) expect(allBytes().includes(text)).toBe(false)
    await storage.close()
    for (const text of [MARKER, 'SQLite format 3', 'CREATE TABLE']) expect(allBytes().includes(text)).toBe(false)
  })

  it('hides text that is readable in the file of a plain database', async () => {
    await fill({})

    expect(allBytes().includes(MARKER)).toBe(true)
  })

  it('returns earlier writes when it is reopened', async () => {
    await fill()
    const storage = await openSqliteStorage({ path, encryption })

    expect(await storage.events.read({ topic: MARKER }, { after: 0, limit: 5 })).toHaveLength(1)
    await storage.close()
  })

  it('rejects a wrong passphrase and leaves the file unchanged byte for byte', async () => {
    await fill()
    const before = digests()

    expect(await refusalOf({ encryption: { passphrase: bytes('wrong') } })).toBe('encryption-passphrase-wrong')
    await expect(migrationStatus(path, { encryption: { passphrase: bytes('wrong') } })).rejects.toMatchObject({
      kind: 'encryption-passphrase-wrong',
    })
    expect(digests()).toEqual(before)
  })

  it('cannot be opened without a passphrase and stays unchanged', async () => {
    await fill()
    const before = digests()

    expect(await refusalOf({})).toBe('storage-corrupt')
    expect(digests()).toEqual(before)
  })

  it('is rejected if its file is not encrypted', async () => {
    await fill({})
    const before = digests()

    expect(await refusalOf({ encryption })).toBe('config-invalid')
    expect(digests()['data.db']).toBe(before['data.db'])
  })

  it('cannot have an empty passphrase', async () => {
    expect(await refusalOf({ encryption: { passphrase: bytes('') } })).toBe('encryption-passphrase-missing')
    expect(readdirSync(directory)).toEqual([])
  })

  it('is reported as unreadable if its file is damaged', async () => {
    writeFileSync(path, Buffer.alloc(8_192, 'x'))

    expect(await refusalOf({ encryption })).toBe('encryption-passphrase-wrong')
  })

  it('is locked against a second server', async () => {
    const storage = await openSqliteStorage({ path, encryption })

    expect(await refusalOf({ encryption })).toBe('storage-locked')
    await storage.close()
  })

  it('is copied with encryption before it is migrated', async () => {
    const open = await databaseOpener(encryption)
    const first = open(path)
    applyMigrations(first, { path, now: () => 1, migrations: MIGRATIONS.slice(0, 2) })
    first.close()

    const status = await migrate(path, { encryption, now: () => 2 })

    expect(status.pending).toEqual([])
    expect(readdirSync(directory)).toContain('data.db.before-3')
    expect(allBytes().includes('CREATE TABLE')).toBe(false)
    expect(() => inspectDatabase(`${path}.before-3`, { checkAfterCrash: true, open })).not.toThrow()
  })
})

describe('databaseOpener', () => {
  it('reports how to install the missing package', async () => {
    const load = () => Promise.reject(new Error('Cannot find package'))

    await expect(databaseOpener(encryption, load)).rejects.toMatchObject({
      kind: 'encryption-peer-missing',
      hint: expect.stringContaining('npm install better-sqlite3-multiple-ciphers'),
    })
  })

  it('does not load the package without encryption', async () => {
    const load = () => Promise.reject(new Error('loaded'))

    expect(await databaseOpener(undefined, load)).toBeTypeOf('function')
  })

  it('rejects a driver that accepts a key but does not encrypt', async () => {
    const { default: plain } = await import('better-sqlite3')
    const open = await databaseOpener(encryption, async () => ({ default: plain }))

    expect(() => open(path)).toThrow('no cipher')
  })
})
