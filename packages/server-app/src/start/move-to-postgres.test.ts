import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type EpochMs, StartError, toJsonText, type Write } from '@perdure/ports'
import { openPostgresStorage } from '@perdure/postgres'
import { openSqliteStorage } from '@perdure/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { sharedPostgres } from '../../../../tooling/postgres-server.ts'
import { parseConfig } from '../config.ts'
import { fillDatabase } from './filled-database.fixture.ts'
import { type MoveToPostgres, moveToPostgres } from './move-to-postgres.ts'

const ROWS = 40

let folder: string
let path: string
let schema: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'perdure-move-'))
  path = join(folder, 'data.db')
  schema = `move_${randomUUID().replaceAll('-', '').slice(0, 16)}`
  process.env.TEST_DATABASE_URL = await sharedPostgres()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const NOTE: Write = {
  type: 'event.append',
  events: [{ topic: 'notes', type: 'note.taken', payload: toJsonText({}), at: 1 as EpochMs }],
}

const move = (over: Partial<MoveToPostgres> = {}) =>
  moveToPostgres(
    parseConfig({}),
    { configDir: folder },
    { moves: [{ path, schema }], urlRef: 'env:TEST_DATABASE_URL', ...over },
  )

const openTarget = async (name = schema) => openPostgresStorage({ url: await sharedPostgres(), schema: name })

const kindOf = async (work: Promise<{ close(): unknown } | readonly unknown[]>): Promise<string> => {
  try {
    const opened = await work
    if ('close' in opened) await opened.close()
    return 'accepted'
  } catch (error) {
    if (error instanceof StartError) return error.kind
    throw error
  }
}

/** Ends the command after the given number of tables, like a kill: nothing but the connections is released. */
const stopAfter = (tables: number): MoveToPostgres['onTable'] => {
  let left = tables
  return () => {
    left--
    if (left === 0) throw new Error('killed')
  }
}

needsTool('PostgreSQL').describe('a move from SQLite to PostgreSQL', () => {
  it('copies odd values in every column of every table', async () => {
    await fillDatabase(path, ROWS)

    const [moved] = await move()

    const counts = Object.fromEntries((moved?.tables ?? []).map(({ name, rows }) => [name, rows]))
    expect(Object.keys(counts)).toHaveLength(37)
    expect(counts).toEqual({
      ...Object.fromEntries(Object.keys(counts).map((name) => [name, ROWS])),
      // A trigger of the file has added one for each session.
      changed_sessions: counts.changed_sessions,
      audit_heads: 1,
    })
    expect(moved?.auditEntries).toBe(ROWS)
  })

  it('keeps the epoch and the positions of the log, and lets only the schema be opened then', async () => {
    await fillDatabase(path, ROWS)
    const file = new DatabaseSync(path)
    const { value: epoch } = file.prepare("SELECT value FROM meta WHERE name = 'epoch'").get() as { value: string }
    const { position } = file.prepare('SELECT max(position) AS position FROM events').get() as { position: number }
    const { changes } = file
      .prepare('UPDATE idempotency SET id = ?, status = NULL, run_id = NULL WHERE key = 1')
      .run('a'.repeat(64))
    expect(changes).toBe(1)
    file.close()

    await move()

    expect(await kindOf(openSqliteStorage({ path }))).toBe('storage-moved')
    const storage = await openTarget()
    expect(await storage.events.head()).toEqual({ epoch, trimmedThrough: 7, position })
    expect(await storage.idempotency.holdsLegacyIds(9_000_000_000_001 as EpochMs)).toBe(true)
    await storage.close()
  })

  it('still finds idempotency records of an old release until they expire', async () => {
    await fillDatabase(path, 1)
    await move()
    const storage = await openTarget()

    const at = (now: number) => storage.idempotency.holdsLegacyIds(now as EpochMs)
    expect([await at(8_999_999_999_999), await at(9_000_000_000_000)]).toEqual([true, false])
    await storage.close()
  })

  it('gives new rows keys and positions after those of the copy', async () => {
    await fillDatabase(path, ROWS)
    await move()
    const storage = await openTarget()
    const { position } = await storage.events.head()
    const stage = { type: 'audit.stage', key: 'new', entry: { action: 'x' } as never } as const
    const outcome = await storage.unitOfWork.commit([stage, NOTE])

    expect(outcome).toMatchObject({ committed: true, events: [{ position: position + 1 }] })
    expect((await storage.audit.staged(ROWS + 1)).at(-1)).toMatchObject({ key: 'new' })
    await storage.close()
  })

  it.each([1, 5, 14, 30])(
    'leaves nothing that a server opens when it ends after %i tables, and can be repeated',
    async (tables) => {
      await fillDatabase(path, ROWS)
      await expect(move({ onTable: stopAfter(tables) })).rejects.toThrow('killed')

      expect(await kindOf(openTarget())).toBe('storage-incomplete')
      expect(await kindOf(openSqliteStorage({ path }))).toBe('accepted')

      expect(await move()).toMatchObject([{ path, schema, auditEntries: ROWS }])
      expect(await kindOf(openTarget())).toBe('accepted')
    },
  )

  it('finishes a move that was interrupted after the file was marked as moved', async () => {
    await fillDatabase(path, ROWS)
    await expect(move({ onTable: stopAfter(30) })).rejects.toThrow('killed')
    const file = new DatabaseSync(path)
    file.prepare("INSERT INTO meta VALUES ('moved_to', 'there')").run()
    file.close()

    expect(await kindOf(openTarget())).toBe('storage-incomplete')
    expect(await kindOf(openSqliteStorage({ path }))).toBe('storage-moved')
    expect(await kindOf(move({ moves: [{ path, schema: `${schema}_other` }] }))).toBe('storage-moved')

    expect(await move()).toMatchObject([{ auditEntries: ROWS }])
    expect(await kindOf(openTarget())).toBe('accepted')
  })

  it('reports a move that an earlier command has finished, without touching the schema', async () => {
    await fillDatabase(path, ROWS)
    await move()
    const storage = await openTarget()

    expect(await move()).toEqual([{ path, schema }])
    expect(await storage.unitOfWork.commit([NOTE])).toMatchObject({ committed: true })
    await storage.close()
  })

  it('refuses a schema with rows, one that a server uses, and one with the copy of another file', async () => {
    await fillDatabase(path, 2)
    const storage = await openTarget()
    expect(await kindOf(move())).toBe('storage-locked')
    await storage.unitOfWork.commit([NOTE])
    await storage.close()
    expect(await kindOf(move())).toBe('copy-refused')
    expect(await kindOf(openTarget())).toBe('accepted')

    const other = `${schema}_other`
    await expect(move({ moves: [{ path, schema: other }], onTable: stopAfter(1) })).rejects.toThrow('killed')
    const second = join(folder, 'second.db')
    await fillDatabase(second, 2)
    expect(await kindOf(move({ moves: [{ path: second, schema: other }] }))).toBe('copy-refused')
  })

  it('refuses a restored file whose schema is in use', async () => {
    await fillDatabase(path, 2)
    const backup = join(folder, 'backup.db')
    copyFileSync(path, backup)
    await move()

    expect(await kindOf(move({ moves: [{ path: backup, schema }] }))).toBe('copy-refused')
  })

  it('refuses a broken audit chain', async () => {
    await fillDatabase(path, ROWS)
    const file = new DatabaseSync(path)
    file.exec('UPDATE audit_entries SET entry = entry || 1 WHERE seq = 9')
    file.close()

    await expect(move()).rejects.toMatchObject({ kind: 'copy-refused', message: expect.stringContaining('entry 9') })
    expect(await kindOf(openTarget())).toBe('storage-incomplete')
  })

  it('moves the audit log with the database, or neither', async () => {
    const audit = join(folder, 'audit.db')
    await fillDatabase(path, 3)
    await fillDatabase(audit, 4)
    const moves = [
      { path, schema },
      { path: audit, schema: `${schema}_audit` },
    ]
    await expect(move({ moves, onTable: stopAfter(40) })).rejects.toThrow('killed')
    for (const { schema: name } of moves) expect(await kindOf(openTarget(name))).toBe('storage-incomplete')
    for (const { path: file } of moves) expect(await kindOf(openSqliteStorage({ path: file }))).toBe('accepted')

    expect(await move({ moves })).toMatchObject([{ auditEntries: 3 }, { auditEntries: 4 }])
    for (const { schema: name } of moves) expect(await kindOf(openTarget(name))).toBe('accepted')
  })
})
