import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createBackup } from './file/backup.ts'
import { restoreBackup } from './file/restore.ts'
import { openSqliteStorage } from './open-sqlite-storage.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-log-'))
  path = join(directory, 'data.db')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

describe('a start after a crash', () => {
  /** The files of a server that was killed. `log` is what happened to the write-ahead log before the next start. */
  async function crash(log: (file: string) => void) {
    const storage = await openSqliteStorage({ path })
    for (const id of ['a', 'b', 'c']) await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id }) }])
    const image = join(directory, 'crashed')
    mkdirSync(image)
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, join(image, `data.db${suffix}`))
    await storage.close()
    path = join(image, 'data.db')
    log(`${path}-wal`)
  }

  async function startAndCount(): Promise<number> {
    let reports = 0
    await (await openSqliteStorage({ path, onLogMissing: () => void reports++ })).close()
    return reports
  }

  it('reports once that the write-ahead log is missing', async () => {
    await crash((file) => rmSync(file))

    expect([await startAndCount(), await startAndCount()]).toEqual([1, 0])
  })

  it.each<[string, (file: string) => void]>([
    ['is there', () => undefined],
    ['is empty, as after a checkpoint', (file) => truncateSync(file)],
  ])('reports nothing when the log %s', async (_, log) => {
    await crash(log)

    expect(await startAndCount()).toBe(0)
  })

  it('reports nothing for a new database, after a clean stop or after a restore of a running database', async () => {
    expect([await startAndCount(), await startAndCount()]).toEqual([0, 0])
    const storage = await openSqliteStorage({ path })
    await createBackup(path, { out: join(directory, 'backup.db') })
    await storage.close()

    await restoreBackup(join(directory, 'backup.db'), { path })

    expect(await startAndCount()).toBe(0)
  })
})

describe('a start after a crash, when the lock file says that commits were stored', () => {
  const markInLock = (file: string): number => {
    const lock = new Database(`${file}.lock`, { readonly: true })
    const count = lock.pragma('user_version', { simple: true }) as number
    lock.close()
    return count
  }

  /** Commits a run, waits for a mark, and keeps the files as they are then in the folder `image`. */
  async function crashAfterMark(): Promise<void> {
    const image = join(directory, 'image')
    mkdirSync(image)
    const storage = await openSqliteStorage({ path })
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'a' }) }])
    await expect.poll(() => statSync(`${path}.lock`).size, { timeout: 10_000 }).toBeGreaterThan(0)
    for (const suffix of ['', '-wal', '.lock']) copyFileSync(`${path}${suffix}`, join(image, `data.db${suffix}`))
    await storage.close()
    path = join(image, 'data.db')
  }

  const start = async () => {
    const storage = await openSqliteStorage({ path })
    const run = await storage.runs.find('a', EVERY_ROW)
    await storage.close()
    return run?.id
  }

  it.each<[string, (file: string) => void]>([
    ['deleted', (file) => rmSync(file)],
    ['emptied', (file) => truncateSync(file)],
  ])('refuses a database whose log was %s, until its lock file is deleted', async (_, remove) => {
    await crashAfterMark()
    remove(`${path}-wal`)

    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(start()).rejects.toMatchObject({
        kind: 'storage-corrupt',
        message: expect.stringContaining(`${path}-wal`),
        hint: expect.stringContaining(`${path}.lock`),
      })
    }
    rmSync(`${path}.lock`)
    expect(await start()).toBeUndefined()
  })

  it('starts with a database whose log another program has merged', async () => {
    await crashAfterMark()
    const other = new Database(path)
    other.pragma('wal_checkpoint(TRUNCATE)')
    other.close()
    expect(existsSync(`${path}-wal`)).toBe(false)

    expect(await start()).toBe('a')
  })

  it('starts with its log, and with a log that was put back after a refusal', async () => {
    await crashAfterMark()
    copyFileSync(`${path}-wal`, join(directory, 'log'))
    rmSync(`${path}-wal`)
    await expect(start()).rejects.toMatchObject({ kind: 'storage-corrupt' })

    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    copyFileSync(join(directory, 'log'), `${path}-wal`)

    expect(await start()).toBe('a')
  })

  it('starts with a copy of the database file alone', async () => {
    await crashAfterMark()
    for (const suffix of ['-wal', '.lock']) rmSync(`${path}${suffix}`)

    expect(await start()).toBeUndefined()
  })

  it('starts with a restored backup, and with another database beside the lock file', async () => {
    await crashAfterMark()
    const backup = join(directory, 'backup.db')
    await createBackup(path, { out: backup })
    rmSync(`${path}-wal`)
    await restoreBackup(backup, { path })
    expect(await start()).toBe('a')

    const other = join(directory, 'other.db')
    const storage = await openSqliteStorage({ path: other })
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'other' }) }])
    copyFileSync(other, path)
    await storage.close()
    expect(await start()).toBeUndefined()
  })

  it('follows the database when the lock file comes from a later time', async () => {
    await crashAfterMark()
    const lock = new Database(`${path}.lock`)
    lock.pragma(`user_version = ${markInLock(path) + 100}`)
    lock.close()

    expect(await start()).toBe('a')
    expect(markInLock(path)).toBeGreaterThan(0)
    expect(markInLock(path)).toBeLessThan(100)
  })
})
