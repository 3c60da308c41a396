import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '@perdure/ports'
import { aFile, anEvent } from '@perdure/testkit'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteStorage, type SqliteStorage } from '../open-sqlite-storage.ts'
import { createBackup, verifyBackup } from './backup.ts'
import { checkDatabase } from './check-database.ts'
import { restoreBackup } from './restore.ts'
import { vacuum } from './vacuum.ts'

let directory: string
let path: string
let out: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-backup-'))
  path = join(directory, 'data.db')
  out = join(directory, 'copy.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const encryption = { passphrase: Buffer.from('correct horse battery staple') }
const audited = {
  type: 'audit.append',
  entry: { at: anEvent().at, actor: { kind: 'system', subject: 'test' }, action: 'test', decision: 'allowed' },
} as const

const append = (storage: SqliteStorage) =>
  storage.unitOfWork.commit([{ type: 'event.append', events: [anEvent({ topic: 'all' })] }, audited])

async function filled(count: number, over: Partial<Parameters<typeof openSqliteStorage>[0]> = {}) {
  const storage = await openSqliteStorage({ path, ...over })
  await Promise.all(Array.from({ length: count }, () => append(storage)))
  return storage
}

async function contentOf(over: Partial<Parameters<typeof openSqliteStorage>[0]> = {}) {
  const storage = await openSqliteStorage({ path, ...over })
  const events = await storage.events.read({ topic: 'all' }, { after: 0, limit: 10_000 })
  const { epoch } = await storage.events.head()
  await storage.close()
  return { events: events.length, epoch }
}

const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof StartError ? error.kind : error),
  )

describe.each([
  ['a plain file', undefined],
  ['an encrypted file', encryption],
])('a backup of %s', (_, encryption) => {
  it('contains every acknowledged commit, even if a server is writing, and passes verification', async () => {
    const storage = await filled(300, { encryption })
    const writing = Promise.all(Array.from({ length: 300 }, () => append(storage)))

    const manifest = await createBackup(path, { out, encryption, now: () => 0 })
    await writing
    await storage.close()

    expect(manifest).toMatchObject({ file: 'copy.db', createdAt: '1970-01-01T00:00:00.000Z' })
    expect(JSON.parse(readFileSync(`${out}.json`, 'utf8'))).toEqual(manifest)
    const { problems, database } = await verifyBackup(out, { encryption })
    expect(problems).toEqual([])
    expect(database?.audit.entries).toBeGreaterThanOrEqual(300)
    expect(readFileSync(out).includes('SQLite format 3')).toBe(encryption === undefined)
    expect(statSync(out).mode & 0o077).toBe(0)
  })

  it('is restored with a new epoch, and the previous file is kept', async () => {
    await (await filled(10, { encryption })).close()
    const before = await contentOf({ encryption })
    await createBackup(path, { out, encryption })
    await (await filled(5, { encryption })).close()

    const { kept } = await restoreBackup(out, { path, encryption })

    const restored = await contentOf({ encryption })
    expect(restored.events).toBe(10)
    expect(restored.epoch).not.toBe(before.epoch)
    expect((await checkDatabase(kept ?? '', { encryption })).audit.entries).toBe(15)
    expect(await verifyBackup(out, { encryption })).toMatchObject({ problems: [] })
  })
})

describe('createBackup', () => {
  it('neither overwrites a file nor copies a missing database', async () => {
    await (await filled(1)).close()
    writeFileSync(out, 'mine')

    expect(await kindOf(createBackup(path, { out }))).toBe('config-invalid')
    expect(await kindOf(createBackup(join(directory, 'none.db'), { out: `${out}2` }))).toBe('config-invalid')
    expect(readFileSync(out, 'utf8')).toBe('mine')
    expect(readdirSync(directory)).not.toContain('none.db')
  })

  it('leaves no incomplete copy when its process is killed, and succeeds the next time', async () => {
    await (await filled(2_000)).close()
    const script = `
      const { createBackup } = await import(process.argv[1])
      process.stdout.write('go')
      await createBackup(process.argv[2], { out: process.argv[3] })`
    const module = new URL('./backup.ts', import.meta.url).href
    const args = ['--conditions=perdure-source', '--input-type=module', '--eval', script, module, path, out]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    await expect.poll(() => readdirSync(directory).join(), { interval: 1 }).toContain('copy.db')
    child.kill('SIGKILL')
    await once(child, 'exit')

    if (readdirSync(directory).includes('copy.db')) expect(await verifyBackup(out)).toMatchObject({ problems: [] })
    else expect(await createBackup(path, { out })).toMatchObject({ format: 1 })
    expect((await verifyBackup(out)).problems).toEqual([])
  })
})

describe('restoreBackup', () => {
  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, bytes.length - 4096), /bytes; its manifest says/],
    ['changed', (bytes: Buffer) => bytes.fill(7, 8_000, 8_100), /SHA-256 of the copy differs/],
    ['replaced by another file', () => Buffer.from('not a database at all'), /manifest says/],
  ])('rejects a copy that was %s, as verifyBackup does', async (_, damage, problem) => {
    await (await filled(200)).close()
    await createBackup(path, { out })
    writeFileSync(out, damage(readFileSync(out)))

    expect((await verifyBackup(out)).problems[0]).toMatch(problem)
    expect(await kindOf(restoreBackup(out, { path }))).toBe('storage-corrupt')
    expect((await contentOf()).events).toBe(200)
  })

  it('fails while a server holds the file', async () => {
    const storage = await filled(3)
    await createBackup(path, { out })

    expect(await kindOf(restoreBackup(out, { path }))).toBe('storage-locked')
    expect(await kindOf(vacuum(path))).toBe('storage-locked')
    await storage.close()
    expect(await kindOf(restoreBackup(out, { path }))).toBe('done')
  })

  it('replaces a damaged file and keeps it unchanged under another name', async () => {
    await (await filled(4)).close()
    await createBackup(path, { out })
    writeFileSync(path, 'damaged')

    const { kept } = await restoreBackup(out, { path })

    expect((await contentOf()).events).toBe(4)
    expect(readFileSync(kept ?? '', 'utf8')).toBe('damaged')
  })
})

describe('a database that refers to contents beside it', () => {
  /** The contents are not there. */
  const withFile = async () => {
    const storage = await filled(2)
    await storage.unitOfWork.commit([{ type: 'file.insert', file: aFile() }])
    await storage.close()
  }
  const contents = () => join(directory, 'files')

  it('is restored from what a server saved when it lost its files, which are not the contents', async () => {
    await withFile()
    const rescued = `${path}.rescued-20260101T000000000Z`
    await createBackup(path, { out: rescued })
    for (const file of [path, `${rescued}.json`]) rmSync(file)

    await restoreBackup(rescued, { path, files: contents() })

    expect((await contentOf()).events).toBe(2)
  })

  it('is restored from the copy that was made before a migration, whose contents are in their folder', async () => {
    await withFile()
    const kept = `${path}.before-27`
    await createBackup(path, { out: kept })
    rmSync(`${kept}.json`)

    await restoreBackup(kept, { path, files: contents() })

    expect((await contentOf()).events).toBe(2)
  })

  it('is restored without its contents if they are in a bucket, and only then', async () => {
    await withFile()
    await createBackup(path, { out })

    expect((await verifyBackup(out)).problems[0]).toMatch(/^files: the content [0-9a-f]{64} is missing$/)
    expect((await verifyBackup(out, { hasContents: false })).problems).toEqual([])
    expect(await kindOf(restoreBackup(out, { path, files: contents() }))).toBe('storage-corrupt')
    expect(await kindOf(restoreBackup(out, { path }))).toBe('done')
  })
})

describe('checkDatabase', () => {
  it('reports no findings while a server is running', async () => {
    const storage = await filled(5)

    expect(await checkDatabase(path)).toEqual({
      ...{ isOk: true, integrity: [], foreignKeys: [], audit: { entries: 5 } },
    })
    await storage.close()
  })

  it.each([
    ['an altered entry', "UPDATE audit_entries SET entry = replace(entry, 'test', 'best') WHERE seq = 3", 3],
    ['a missing entry', 'DELETE FROM audit_entries WHERE seq = 2', 2],
    ['a truncated tail', 'DELETE FROM audit_entries WHERE seq >= 4', 4],
  ])('reports %s in the audit chain', async (_, sql, firstBadSeq) => {
    await (await filled(5)).close()
    const { default: Database } = await import('better-sqlite3')
    const database = new Database(path)
    database.exec(sql)
    database.close()

    expect(await checkDatabase(path)).toMatchObject({ isOk: false, audit: { firstBadSeq } })
  })

  it('reports a row that refers to a missing row', async () => {
    await (await filled(1)).close()
    const { default: Database } = await import('better-sqlite3')
    const database = new Database(path)
    database.pragma('foreign_keys = OFF')
    database.exec("INSERT INTO events (run_key, type, at, payload) VALUES (99, 'x', 0, '{}')")
    database.close()

    expect(await checkDatabase(path)).toMatchObject({ isOk: false, foreignKeys: [expect.stringMatching(/^events:/)] })
  })
})

describe('vacuum', () => {
  it('returns the space of deleted rows to the disk', async () => {
    const storage = await openSqliteStorage({ path })
    const big = Array.from({ length: 50 }, () => anEvent({ topic: 'all', payload: `"${'x'.repeat(20_000)}"` as never }))
    await storage.unitOfWork.commit([{ type: 'event.append', events: big }])
    await storage.close()
    const { default: Database } = await import('better-sqlite3')
    const database = new Database(path)
    database.exec('DELETE FROM events')
    database.close()

    const { bytesBefore, bytesAfter } = await vacuum(path)

    expect(bytesBefore).toBeGreaterThan(1_000_000)
    expect(bytesAfter).toBeLessThan(bytesBefore / 2)
  })
})
