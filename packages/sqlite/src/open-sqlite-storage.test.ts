import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW, type Write } from '@perdure/ports'
import { anEvent, aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStorage } from './open-sqlite-storage.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-storage-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

const insert = (id: string): readonly Write[] => [
  { type: 'run.insert', run: aRun({ id }) },
  { type: 'event.append', events: [anEvent({ runId: id })] },
]

const mode = (file: string): number => statSync(file).mode & 0o777

/** Reads `clean_shutdown` directly from the file. */
function cleanShutdown(): unknown {
  const database = new Database(path, { readonly: true })
  const value = database.prepare("SELECT value FROM meta WHERE name = 'clean_shutdown'").pluck().get()
  database.close()
  return value
}

describe('openSqliteStorage', () => {
  it('gives only the owner access to the directory and files that it creates', async () => {
    path = join(directory, 'deep', 'er', 'data.db')
    const storage = await openSqliteStorage({ path })
    await storage.unitOfWork.commit(insert('a'))

    const files = ['', '-wal', '-shm', '.lock'].map((suffix) => mode(`${path}${suffix}`))
    const directories = [join(directory, 'deep'), join(directory, 'deep', 'er')].map(mode)
    await storage.close()

    expect(files).toEqual([0o600, 0o600, 0o600, 0o600])
    expect(directories).toEqual([0o700, 0o700])
  })

  it('revokes the read permission of other users on an existing database', async () => {
    await (await openSqliteStorage({ path })).close()
    chmodSync(path, 0o644)

    await (await openSqliteStorage({ path })).close()

    expect(mode(path)).toBe(0o600)
  })

  it('keeps the permissions of an existing directory', async () => {
    mkdirSync(join(directory, 'shared'), { mode: 0o755 })

    await (await openSqliteStorage({ path: join(directory, 'shared', 'data.db') })).close()

    expect(mode(join(directory, 'shared'))).toBe(0o755)
  })

  it('returns committed data after the file is reopened', async () => {
    const first = await openSqliteStorage({ path })
    await first.unitOfWork.commit(insert('a'))
    await first.close()

    const second = await openSqliteStorage({ path })
    const run = await second.runs.find('a', EVERY_ROW)
    const head = await second.events.head()
    await second.close()

    expect(run).toEqual(aRun({ id: 'a' }))
    expect(head.position).toBe(1)
  })

  it('gives each database a unique and stable epoch', async () => {
    const epochOf = async (file: string): Promise<string> => {
      const storage = await openSqliteStorage({ path: file })
      const { epoch } = await storage.events.head()
      await storage.close()
      return epoch
    }

    const epoch = await epochOf(path)

    expect(epoch).toMatch(/^[0-9a-f]{16}$/)
    expect(await epochOf(path)).toBe(epoch)
    expect(await epochOf(join(directory, 'other.db'))).not.toBe(epoch)
  })

  it('rejects a second server on the same file, even through a symbolic link', async () => {
    const storage = await openSqliteStorage({ path })
    symlinkSync(path, join(directory, 'link.db'))

    await expect(openSqliteStorage({ path })).rejects.toMatchObject({ kind: 'storage-locked' })
    await expect(openSqliteStorage({ path: join(directory, 'link.db') })).rejects.toMatchObject({
      kind: 'storage-locked',
    })

    await storage.close()
    await (await openSqliteStorage({ path })).close()
  })

  it('lets lib mode share the file of a running server, and both see every commit', async () => {
    const server = await openSqliteStorage({ path })
    const tool = await openSqliteStorage({ path, mode: 'lib' })

    await tool.unitOfWork.commit(insert('a'))
    await server.unitOfWork.commit(insert('b'))
    const found = [await server.runs.find('a', EVERY_ROW), await tool.runs.find('b', EVERY_ROW)]
    await tool.close()

    expect(found.map((run) => run?.id)).toEqual(['a', 'b'])
    expect(cleanShutdown()).toBe('0')
    await server.close()
  })

  it('marks only a clean shutdown as clean', async () => {
    const storage = await openSqliteStorage({ path })
    expect(cleanShutdown()).toBe('0')

    await storage.close()

    expect(cleanShutdown()).toBe('1')
  })

  it('empties the write-ahead log on close, even while another program has the file open', async () => {
    const storage = await openSqliteStorage({ path })
    const tool = await openSqliteStorage({ path, mode: 'lib' })
    await storage.unitOfWork.commit(insert('a'))
    expect((await storage.status()).walBytes).toBeGreaterThan(0)

    await storage.close()

    expect((await tool.status()).walBytes).toBe(0)
    await tool.close()
  })

  it('reports the sizes of the database files', async () => {
    const storage = await openSqliteStorage({ path })

    const status = await storage.status()
    const sizes = [statSync(`${path}-wal`).size, statSync(path).size]
    await storage.close()

    expect(status).toEqual({ writable: true, walBytes: sizes[0], dbBytes: sizes[1], freeBytes: expect.any(Number) })
    expect(status.freeBytes).toBeGreaterThan(0)
  })

  it('reports a closed storage as not writable', async () => {
    const storage = await openSqliteStorage({ path })
    await storage.close()

    expect(await storage.status()).toMatchObject({ writable: false, message: 'The storage is closed.' })
  })

  it('creates no files and takes no lease for an in-memory database', async () => {
    const [first, second] = await Promise.all([
      openSqliteStorage({ path: ':memory:' }),
      openSqliteStorage({ path: ':memory:' }),
    ])
    await first.unitOfWork.commit(insert('a'))

    expect(await second.runs.find('a', EVERY_ROW)).toBeUndefined()
    expect(await first.status()).toEqual({ writable: true, walBytes: 0, dbBytes: 0 })
    expect(existsSync(':memory:.lock')).toBe(false)

    await Promise.all([first.close(), second.close()])
  })

  it('rejects a path whose parent is a file', async () => {
    await (await openSqliteStorage({ path })).close()

    await expect(openSqliteStorage({ path: join(path, 'data.db') })).rejects.toMatchObject({ kind: 'config-invalid' })
  })

  it('releases the lease when it rejects the file', async () => {
    await (await openSqliteStorage({ path })).close()
    const database = new Database(path)
    database.pragma('user_version = 99')
    database.close()
    const before = readFileSync(path)

    await expect(openSqliteStorage({ path })).rejects.toMatchObject({ kind: 'storage-newer-schema' })
    await expect(openSqliteStorage({ path })).rejects.toMatchObject({ kind: 'storage-newer-schema' })

    expect(readFileSync(path).equals(before)).toBe(true)
  })
})
