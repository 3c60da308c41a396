import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW, type RunRecord, toJsonText, type Write } from '@perdure/ports'
import { eventReads, runReads } from '@perdure/storage'
import { anEvent, aRun } from '@perdure/testkit'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from '../file/connection.ts'
import { applyMigrations } from '../file/migrate.ts'
import { SQLITE } from '../query/dialect.ts'
import type { Host } from './host.ts'
import { createInlineHost } from './inline-host.ts'

let directory: string
let db: Connection
let host: Host
let fatal: unknown[]

const createHost = (connection: Connection): Host =>
  createInlineHost(connection, {
    onFatal: (error) => fatal.push(error),
    closeConnection: ({ database }) => void database.close(),
  })

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-host-'))
  db = openConnection(join(directory, 'data.db'))
  applyMigrations(db.database, { now: () => 0 })
  fatal = []
  host = createHost(db)
})
afterEach(async () => {
  await host.close()
  rmSync(directory, { recursive: true })
})

const insert = (id: string): readonly Write[] => [
  { type: 'run.insert', run: aRun({ id }) },
  { type: 'event.append', events: [anEvent({ topic: 'log', type: id })] },
]

const invalid: readonly Write[] = [
  { type: 'event.append', events: [anEvent({ topic: 'log', type: 'lost' })] },
  { type: 'run.insert', run: { ...aRun({ id: 'invalid' }), owner: null } as unknown as RunRecord },
]

const large = (id: string): readonly Write[] => [
  { type: 'run.insert', run: aRun({ id, input: toJsonText('x'.repeat(200_000)) }) },
]

const logged = async (): Promise<readonly string[]> => {
  const events = await host.read(eventReads.read, { topic: 'log' }, { after: 0, limit: 1_000 })
  return events.map(({ type }) => type)
}

const hasRun = async (id: string): Promise<boolean> => (await host.read(runReads.find, id, EVERY_ROW)) !== undefined

/** A connection that throws a driver error for this statement. */
const failing = (text: string, code: string): Connection => ({
  ...db,
  run(query, values) {
    if (query.in(SQLITE).text === text) throw new Database.SqliteError('injected', code)
    return db.run(query, values)
  },
})

describe('group commit', () => {
  it('commits all queued writes in one transaction', async () => {
    await Promise.all(Array.from({ length: 32 }, (_, index) => host.commit(insert(`run-${index}`))))

    expect(host.counters()).toEqual({ transactions: 1, writes: 32 })
  })

  it('commits at most 128 changes per transaction and keeps their order', async () => {
    const ids = Array.from({ length: 129 }, (_, index) => `run-${index}`)

    await Promise.all(ids.map((id) => host.commit(insert(id))))

    expect(host.counters()).toEqual({ transactions: 3, writes: 129 })
    expect(await logged()).toEqual(ids)
  })

  it('commits a single write immediately', async () => {
    await host.commit(insert('a'))
    await host.commit(insert('b'))

    expect(host.counters()).toEqual({ transactions: 2, writes: 2 })
  })

  it('undoes only the conflicting write of a group', async () => {
    const conflicting: readonly Write[] = [
      { type: 'event.append', events: [anEvent({ topic: 'log', type: 'lost' })] },
      { type: 'run.insert', run: aRun({ id: 'a' }) },
    ]

    const outcomes = await Promise.all([insert('a'), conflicting, insert('b')].map((writes) => host.commit(writes)))

    expect(outcomes.map(({ committed }) => committed)).toEqual([true, false, true])
    expect(await logged()).toEqual(['a', 'b'])
    expect(host.counters().transactions).toBe(1)
  })

  it('undoes only the throwing write of a group', async () => {
    const settled = await Promise.allSettled([insert('a'), invalid, insert('b')].map((writes) => host.commit(writes)))

    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(settled[1]).toMatchObject({ reason: { code: 'internal-error' } })
    expect(await logged()).toEqual(['a', 'b'])
    expect(db.database.inTransaction).toBe(false)
    expect(host.counters().transactions).toBe(1)
  })

  it('gives committed events consecutive positions, even if writes between them were undone', async () => {
    await Promise.allSettled([insert('a'), invalid, insert('b')].map((writes) => host.commit(writes)))

    expect(await host.read(eventReads.head)).toMatchObject({ position: 2 })
  })

  it('hides a queued write from reads and shows an acknowledged write completely', async () => {
    const write = host.commit(insert('a'))

    expect(await hasRun('a')).toBe(false)
    await write
    expect(await hasRun('a')).toBe(true)
    expect(await logged()).toEqual(['a'])
  })

  it('serves reads during commits, and each read sees only complete commits', async () => {
    const writes = Array.from({ length: 200 }, (_, index) =>
      host.commit([...insert(`run-${index}`), ...insert(`again-${index}`).slice(1)]),
    )
    const page = { limit: 200, order: 'asc' } as const
    const countRuns = async () => (await host.read(runReads.list, {}, page, EVERY_ROW)).items.length
    const counts: (readonly [runsBefore: number, events: number, runsAfter: number])[] = []
    const all = Promise.all(writes).then(() => 'committed')
    while ((await Promise.race([all, new Promise((resolve) => setImmediate(resolve))])) !== 'committed') {
      counts.push([await countRuns(), (await logged()).length, await countRuns()])
    }

    // A commit may come between two reads, because each read may wait for its turn.
    expect(counts.filter(([, events]) => events % 2 !== 0)).toEqual([])
    expect(counts.filter(([before, events, after]) => events < 2 * before || events > 2 * after)).toEqual([])
    expect(counts.some(([before, , after]) => [before, after].some((runs) => runs > 0 && runs < 200))).toBe(true)
    expect(await logged()).toHaveLength(400)
  })
})

describe('a host on a full disk', () => {
  const limitTo = (pages: number) => db.database.pragma(`max_page_count = ${pages}`)
  const pageCount = () => db.database.pragma('page_count', { simple: true }) as number

  it('rejects writes that do not fit, keeps serving reads, and accepts writes again once there is space', async () => {
    await host.commit(insert('a'))
    limitTo(pageCount() + 4)

    await expect(host.commit(large('b'))).rejects.toMatchObject({ code: 'storage-full' })
    expect(host.state()).toBe('full')
    expect(db.database.inTransaction).toBe(false)
    expect([await hasRun('a'), await hasRun('b')]).toEqual([true, false])

    limitTo(1_000_000)
    await host.commit(large('b'))
    expect(await hasRun('b')).toBe(true)
    expect(host.state()).toBe('open')
    expect(fatal).toEqual([])
  })

  it('acknowledges no write of a failed transaction', async () => {
    await host.commit(insert('before'))
    limitTo(pageCount() + 4)

    const ids = ['a', 'b', 'c']
    const settled = await Promise.allSettled([
      host.commit(insert('a')),
      host.commit(large('b')),
      host.commit(insert('c')),
    ])

    const found = await Promise.all(ids.map(hasRun))
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(found)
    expect(found[1]).toBe(false)
  })
})

describe('a host on a locked database', () => {
  it('rejects the group, then accepts writes once the lock is released', async () => {
    const other = new Database(db.database.name)
    db.database.pragma('busy_timeout = 0')
    other.exec('BEGIN IMMEDIATE')

    await expect(host.commit(insert('a'))).rejects.toMatchObject({ code: 'SQLITE_BUSY', kind: 'sqlite-busy' })

    other.exec('ROLLBACK')
    other.close()
    await host.commit(insert('a'))
    expect(await logged()).toEqual(['a'])
  })
})

describe('a host on a failing disk', () => {
  it('rejects every write of the failed group and every later write', async () => {
    host = createHost(failing('COMMIT', 'SQLITE_IOERR_FSYNC'))

    const settled = await Promise.allSettled([host.commit(insert('a')), host.commit(insert('b'))])
    const later = host.commit(insert('c'))

    const failed = { status: 'rejected', reason: expect.objectContaining({ code: 'storage-failed' }) }
    expect(settled).toEqual([failed, failed])
    await expect(later).rejects.toMatchObject({ code: 'storage-failed' })
    expect(host.state()).toBe('failed')
    expect(db.database.inTransaction).toBe(false)
  })

  it('reports the failure once', async () => {
    host = createHost(failing('COMMIT', 'SQLITE_IOERR_WRITE'))

    await Promise.allSettled([host.commit(insert('a')), host.commit(insert('b'))])
    await Promise.allSettled([host.commit(insert('c'))])

    expect(fatal).toEqual([expect.objectContaining({ code: 'storage-failed' })])
  })

  it('rejects every write after a read has found a damaged page', async () => {
    const fail = () => {
      throw new Database.SqliteError('injected', 'SQLITE_CORRUPT')
    }
    const damaged: Connection = { ...db, db: { ...db.db, all: fail, each: fail } }
    host = createHost(damaged)

    await expect(logged()).rejects.toMatchObject({ code: 'storage-failed' })
    await expect(host.commit(insert('a'))).rejects.toMatchObject({ code: 'storage-failed' })
    expect(fatal).toHaveLength(1)
  })

  it('does not fail when a commit does not fit on the disk, but rejects that group', async () => {
    const full = createHost(failing('COMMIT', 'SQLITE_FULL'))

    await expect(full.commit(insert('a'))).rejects.toMatchObject({ code: 'storage-full' })

    expect(full.state()).toBe('full')
    expect(db.database.inTransaction).toBe(false)
    expect(await hasRun('a')).toBe(false)
  })

  it('rejects the whole group when one job aborts the transaction', async () => {
    const lost: Connection = {
      ...db,
      run(query, values) {
        if (query.in(SQLITE).text === 'ROLLBACK TO job') {
          db.database.exec('ROLLBACK')
          throw new Database.SqliteError('injected', 'SQLITE_FULL')
        }
        return db.run(query, values)
      },
    }
    const losing = createHost(lost)

    const settled = await Promise.allSettled([losing.commit(insert('a')), losing.commit(invalid)])

    expect(settled.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(['storage-full', 'storage-full'])
    expect(await hasRun('a')).toBe(false)
  })
})

describe('closing a host', () => {
  it('commits the queued writes', async () => {
    const writes = Array.from({ length: 100 }, (_, index) => host.commit(insert(`run-${index}`)))

    await host.close()

    expect((await Promise.all(writes)).every(({ committed }) => committed)).toBe(true)
  })

  it('rejects later reads and writes', async () => {
    await host.close()

    await expect(host.commit(insert('a'))).rejects.toMatchObject({ code: 'storage-failed' })
    await expect(host.read(eventReads.head)).rejects.toMatchObject({ code: 'storage-failed' })
    expect(host.state()).toBe('closed')
  })
})
