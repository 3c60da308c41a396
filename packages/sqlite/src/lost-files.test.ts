import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW, type Refusal, type Write } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createBackup } from './file/backup.ts'
import { restoreBackup } from './file/restore.ts'
import { openSqliteStorage, type SqliteStorage, type SqliteStorageOptions } from './open-sqlite-storage.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-lost-'))
  path = join(directory, 'data.db')
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

const insert = (id: string): readonly Write[] => [{ type: 'run.insert', run: aRun({ id }) }]

/** Opens the storage, with a promise of the error that ends it. */
async function open(over: Partial<SqliteStorageOptions> = {}) {
  const fatal = Promise.withResolvers<Refusal>()
  const lost: Refusal[] = []
  const callbacks = { onFatal: fatal.resolve, onFilesLost: (error: Refusal) => void lost.push(error) }
  const storage = await openSqliteStorage({ path, ...callbacks, ...over })
  return { storage, fatal: fatal.promise, lost }
}

const fill = async (storage: SqliteStorage, ids: readonly string[]): Promise<void> => {
  for (const id of ids) await storage.unitOfWork.commit(insert(id))
}

async function idsOf(file: string): Promise<readonly string[]> {
  const storage = await openSqliteStorage({ path: file })
  const ids = ['a', 'b', 'c'].map(async (id) => (await storage.runs.find(id, EVERY_ROW))?.id ?? 'none')
  const found = await Promise.all(ids)
  await storage.close()
  return found
}

const named = (part: string): readonly string[] => readdirSync(directory).filter((file) => file.includes(part))

const replaceByCopy = (file: string) => {
  copyFileSync(file, `${file}-new`)
  renameSync(`${file}-new`, file)
}

describe.each(['server', 'lib'] as const)('a storage in %s mode', (mode) => {
  it.each<[string, (file: string) => void]>([
    ['deleted', rmSync],
    ['moved', (file) => renameSync(file, `${file}-elsewhere`)],
    ['replaced', replaceByCopy],
    [
      'replaced by an empty file',
      (file) => {
        rmSync(file)
        writeFileSync(file, '')
      },
    ],
  ])('acknowledges nothing once its database file is %s, and saves everything beside it', async (_, change) => {
    const { storage, fatal, lost } = await open({ mode })
    await fill(storage, ['a', 'b', 'c'])

    change(path)
    const status = await storage.status()
    await expect(storage.unitOfWork.commit(insert('d'))).rejects.toMatchObject({ code: 'storage-failed' })

    expect(status).toMatchObject({
      writable: false,
      isSaving: true,
      message: expect.stringMatching(/^The storage stopped: data\.db /),
    })
    expect(lost).toHaveLength(1)
    const { message, hint } = await fatal
    const copy = join(directory, named('.rescued-')[0] ?? '')
    expect(message).toContain(`All data was saved as ${copy}`)
    expect(hint).toContain(`perdure restore ${copy}`)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    await storage.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
    await expect(openSqliteStorage({ path })).rejects.toMatchObject({
      ...{ kind: 'storage-replaced', hint: expect.stringContaining(`perdure restore ${copy}`) },
    })

    await restoreBackup(copy, { path })
    expect(await idsOf(path)).toEqual(['a', 'b', 'c'])
    expect(named('.rescued-')).toEqual([])
  })

  it.each<[string, (file: string) => void]>([
    ['deleted', rmSync],
    ['moved', (file) => renameSync(file, `${file}-elsewhere`)],
    ['replaced', replaceByCopy],
  ])('moves its write-ahead log into the database file when the log is %s', async (_, change) => {
    const { storage, fatal } = await open({ mode })
    await fill(storage, ['a', 'b'])

    change(`${path}-wal`)
    await storage.unitOfWork.commit(insert('c')).catch(() => undefined)
    await storage.status()

    expect(await fatal).toMatchObject({ code: 'storage-failed', message: expect.stringContaining('holds all data') })
    await storage.close()
    expect(named('.rescued-')).toEqual([])
    expect(existsSync(`${path}-wal`)).toBe(false)
    expect((await idsOf(path)).slice(0, 2)).toEqual(['a', 'b'])
  })

  it('notices the loss by itself, without a commit or a health check', async () => {
    const { storage, fatal } = await open({ mode })

    rmSync(path)

    expect(await fatal).toMatchObject({ code: 'storage-failed' })
    await storage.close()
  })

  it('deletes no foreign files when it closes', async () => {
    const { storage, fatal } = await open({ mode })
    await fill(storage, ['a'])

    for (const suffix of ['', '-wal']) {
      rmSync(`${path}${suffix}`)
      writeFileSync(`${path}${suffix}`, 'foreign')
    }
    await storage.close()

    expect(await fatal).toMatchObject({ message: expect.stringContaining('saved as') })
    expect(statSync(path).size + statSync(`${path}-wal`).size).toBe(14)
  })
})

it.each(['-shm', '.lock'])('stops when data.db%s is deleted, although no content is lost', async (suffix) => {
  const { storage, fatal } = await open()
  await fill(storage, ['a', 'b', 'c'])

  rmSync(`${path}${suffix}`)

  expect(await fatal).toMatchObject({ message: expect.stringContaining(`${path}${suffix} is missing`) })
  await storage.close()
  expect(named('.rescued-')).toEqual([])
})

it('does not commit inline to a log that it would have to create', async () => {
  const { storage, fatal } = await open()
  await fill(storage, ['a'])

  rmSync(`${path}-wal`)
  const outcomes = await Promise.allSettled(['b', 'c'].map((id) => storage.unitOfWork.commit(insert(id))))
  await storage.status()
  await fatal
  await storage.close()

  const found = await idsOf(path)
  for (const [index, id] of ['b', 'c'].entries()) {
    if (outcomes[index]?.status === 'fulfilled') expect(found).toContain(id)
  }
})

it('saves an encrypted database as an encrypted copy', async () => {
  const encryption = { passphrase: new TextEncoder().encode('correct horse') }
  const { storage, fatal } = await open({ encryption })
  await fill(storage, ['a'])

  rmSync(path)
  await fatal
  await storage.close()

  const copy = join(directory, named('.rescued-')[0] ?? '')
  expect(() => new Database(copy).prepare('SELECT * FROM meta').all()).toThrow('file is not a database')
  await restoreBackup(copy, { path, encryption })
  const restored = await openSqliteStorage({ path, encryption })
  expect(await restored.runs.find('a', EVERY_ROW)).toBeDefined()
  await restored.close()
})

it('starts again only after the saved copy was restored or moved away', async () => {
  await (await open()).storage.close()
  const copy = `${path}.rescued-20260101T000000000Z.partial`
  writeFileSync(copy, '')

  await expect(openSqliteStorage({ path })).rejects.toMatchObject({ kind: 'storage-replaced' })
  rmSync(copy)
  await expect((await open()).storage.close()).resolves.toBeUndefined()
})

const HOLD = `
const { openSqliteStorage } = await import(process.argv[1])
await openSqliteStorage({ path: process.argv[2] })
process.stdout.write('held')`

it('refuses a database that a process still uses after its lock file was deleted', async () => {
  const module = new URL('./open-sqlite-storage.ts', import.meta.url).href
  const args = ['--conditions=perdure-source', '--input-type=module', '--eval', HOLD, module, path]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGSTOP')
  rmSync(`${path}.lock`)

  await expect(openSqliteStorage({ path })).rejects.toMatchObject({ kind: 'storage-locked' })

  rmSync(`${path}.lock`)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await expect((await open()).storage.close()).resolves.toBeUndefined()
})

describe('restoreBackup', () => {
  const backUp = async (): Promise<string> => {
    const { storage } = await open()
    await fill(storage, ['a', 'b', 'c'])
    await storage.close()
    const out = join(directory, 'backup.db')
    await createBackup(path, { out })
    return out
  }

  it('gives only the owner access to the database, whatever the mode of the backup', async () => {
    const out = await backUp()
    chmodSync(out, 0o644)
    chmodSync(path, 0o644)

    const { kept } = await restoreBackup(out, { path })

    for (const file of [path, kept ?? '']) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('copies the previous database instead of linking it, so that an interruption leaves no second name', async () => {
    const out = await backUp()

    const { kept } = await restoreBackup(out, { path })

    for (const file of [path, kept ?? '']) expect(statSync(file).nlink).toBe(1)
    expect(statSync(path).ino).not.toBe(statSync(kept ?? '').ino)
  })

  it('does not replay the log of a database file that is gone', async () => {
    const out = await backUp()
    const { storage } = await open()
    await fill(storage, ['later'])
    const log = join(directory, 'log')
    copyFileSync(`${path}-wal`, log)
    await storage.close()
    rmSync(path)
    renameSync(log, `${path}-wal`)

    await restoreBackup(out, { path })

    expect(named('.before-restore-').filter((file) => file.endsWith('-wal'))).toHaveLength(1)
    const restored = await openSqliteStorage({ path })
    expect(await restored.runs.find('later', EVERY_ROW)).toBeUndefined()
    await restored.close()
  })
})

it('keeps the content of a folder that was deleted as a whole', async () => {
  path = join(directory, 'inner', 'data.db')
  const { storage, fatal } = await open()
  await fill(storage, ['a', 'b', 'c'])

  rmSync(join(directory, 'inner'), { recursive: true })
  await fatal
  await storage.close()

  const copy = readdirSync(join(directory, 'inner')).find((file) => file.includes('.rescued-')) ?? ''
  await restoreBackup(join(directory, 'inner', copy), { path })
  expect(await idsOf(path)).toEqual(['a', 'b', 'c'])
})
