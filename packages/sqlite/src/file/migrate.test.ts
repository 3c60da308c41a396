import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EpochMs } from '@perdure/ports'
import { runNow } from '@perdure/storage'
import { eventReads, findAnyRun, idempotencyReads } from '@perdure/storage/queries'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Migration } from '../migrations/migration.ts'
import { MIGRATIONS } from '../migrations/migrations.ts'
import { type Connection, openConnection } from './connection.ts'
import { appliedMigrations, applyMigrations, pendingMigrations } from './migrate.ts'

const now = () => 1_000

const notes: Migration = { version: 1, name: 'notes', sql: 'CREATE TABLE notes (text TEXT) STRICT' }
const dates: Migration = { version: 2, name: 'dates', sql: 'ALTER TABLE notes ADD COLUMN at INTEGER' }
const broken: Migration = { version: 2, name: 'broken', sql: 'CREATE TABLE half (a); INSERT INTO missing VALUES (1)' }

let directory: string
let path: string
let db: Connection
let database: Database.Database

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-migrate-'))
  path = join(directory, 'data.db')
  db = openConnection(path)
  database = db.database
})
afterEach(() => {
  database.close()
  rmSync(directory, { recursive: true })
})

const tables = (): unknown[] =>
  database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all()

describe('MIGRATIONS', () => {
  it('lists consecutive versions from 1 and unique names', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    expect(new Set(MIGRATIONS.map(({ name }) => name)).size).toBe(MIGRATIONS.length)
  })
})

describe('applyMigrations', () => {
  it('migrates a new database to the newest schema', () => {
    applyMigrations(database, { path, now })

    expect(database.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length)
    expect(appliedMigrations(database)).toEqual(
      MIGRATIONS.map(({ version, name }) => ({ version, name, appliedAt: 1_000 })),
    )
    expect(tables()).toEqual(
      expect.arrayContaining(['approvals', 'events', 'idempotency', 'messages', 'runs', 'sessions', 'steps', 'tokens']),
    )
  })

  it('does nothing when it is called again', () => {
    applyMigrations(database, { path, now })
    applyMigrations(database, { path, now: () => 2_000 })

    expect(new Set(appliedMigrations(database).map(({ appliedAt }) => appliedAt))).toEqual(new Set([1_000]))
    expect(pendingMigrations(database)).toEqual([])
  })

  it('applies only pending migrations', () => {
    applyMigrations(database, { path, now, migrations: [notes] })
    database.exec("INSERT INTO notes VALUES ('kept')")
    applyMigrations(database, { path, now: () => 2_000, migrations: [notes, dates] })

    expect(database.prepare('SELECT * FROM notes').all()).toEqual([{ text: 'kept', at: null }])
    expect(appliedMigrations(database).map(({ appliedAt }) => appliedAt)).toEqual([1_000, 2_000])
  })

  it('turns runs from a schema that predates child runs into top-level runs', () => {
    applyMigrations(database, { path, now, migrations: MIGRATIONS.slice(0, 6) })
    database.exec(`
      INSERT INTO run_keys VALUES (1, 'old');
      INSERT INTO runs (key, id, kind, target_id, owner, status, attempt, created_at, usage, metadata, input)
      VALUES (1, 'old', 'agent', 'echo', 'alice', 'completed', 1, 5, '{}', '{}', '1')`)
    applyMigrations(database, { path, now })

    const run = runNow(findAnyRun(db.db, 'old'))
    expect(run).toMatchObject({ id: 'old', owner: 'alice', status: 'completed', depth: 0 })
    expect([run?.budget, run?.deadlineAt, run?.parentSeq, run?.suspension, run?.resumption]).toEqual(
      Array(5).fill(undefined),
    )
  })

  it('makes sessions from an earlier schema findable by their metadata', () => {
    const { database } = openConnection(':memory:')
    applyMigrations(database, { now, migrations: MIGRATIONS.slice(0, 20) })
    const metadata = `{"ticket":"17","a.b \\"c\\"":""}`
    database.exec(`
      INSERT INTO sessions (key, id, owner, last_seq, created_at, updated_at, metadata) VALUES
        (1, 'a', 'alice', 0, 5, 9, '${metadata}'), (2, 'b', 'alice', 0, 6, 9, '{}')`)

    applyMigrations(database, { now })

    expect(database.prepare('SELECT * FROM session_fields ORDER BY field').raw().all()).toEqual([
      ['metadata.a.b "c"', '', 5, 1],
      ['metadata.ticket', '17', 5, 1],
    ])
    database.close()
  })

  it('lists chats from an earlier schema, as read', () => {
    const { database } = openConnection(':memory:')
    applyMigrations(database, { now, migrations: MIGRATIONS.slice(0, 30) })
    const long = 'x'.repeat(300)
    database.exec(`
      INSERT INTO sessions (key, id, owner, agent_id, last_seq, created_at, updated_at, metadata) VALUES
        (1, 'a', 'alice', 'echo', 3, 5, 9, '{"interop.id":"chat \\"1\\""}'), (2, 'b', 'alice', 'echo', 1, 6, 9, '{}'),
        (3, 'c', 'alice', NULL, 0, 6, 9, '{"interop.id":"c"}'), (4, 'd', 'bob', 'echo', 0, 6, 9, '{"interop.id":"d"}');
      INSERT INTO messages (session_key, seq, id, role, run_id, created_at, content) VALUES
        (1, 1, 'm1', 'user', NULL, 5, '{"text":"Hello","messages":[]}'), (1, 2, 'm2', 'assistant', NULL, 6, '"${long}"'),
        (1, 3, 'm3', 'user', NULL, 7, '[1]'), (2, 1, 'm4', 'user', NULL, 7, '"no chat"')`)
    applyMigrations(database, { now })

    const shown =
      'session_id, chat_id, owner, first_text, last_role, last_text, last_at, last_seq, answer_seq, read_seq'
    expect(database.prepare(`SELECT ${shown} FROM chats ORDER BY session_id`).raw().all()).toEqual([
      ['a', 'chat "1"', 'alice', 'Hello', 'user', '', 7, 3, 2, 3],
      ['d', 'd', 'bob', '', null, null, null, 0, 0, 0],
    ])
    database.close()
  })

  it('continues event positions where the old sequence ended, even if the newest events were deleted', () => {
    applyMigrations(database, { path, now, migrations: MIGRATIONS.slice(0, 17) })
    database.exec(`
      INSERT INTO events (topic, type, at, payload) VALUES ('log', 'kept', 1, '1'), ('log', 'a', 2, '2'), ('log', 'b', 3, '3');
      DELETE FROM events WHERE position > 1`)
    applyMigrations(database, { path, now })

    expect(runNow(eventReads.head(db.db)).position).toBe(3)
    expect(runNow(eventReads.read(db.db, { topic: 'log' }, { after: 0, limit: 10 }))).toMatchObject([
      { position: 1, type: 'kept', at: 1, payload: '1' },
    ])
    database.exec("INSERT INTO events (topic, type, at, payload) VALUES ('log', 'next', 4, '4')")
    expect(runNow(eventReads.head(db.db)).position).toBe(4)
  })

  it.each([
    ['no key exists', '', [false, false]],
    ['a key has a response', '(id, 200)', [true, false]],
    ['a key waits for its response', '(id, NULL)', [true, true]],
  ])('records how long hashed idempotency keys are looked up if %s', (_, row, expected) => {
    applyMigrations(database, { path, now, migrations: MIGRATIONS.slice(0, 17) })
    const insert = "INSERT INTO idempotency (id, status, fingerprint, created_at, expires_at) SELECT *, 'f', 0, 50 FROM"
    if (row !== '') database.exec(`${insert} (VALUES ${row.replace('id', `'${'a'.repeat(64)}'`)})`)
    applyMigrations(database, { path, now })

    expect([49, 50].map((at) => runNow(idempotencyReads.holdsLegacyIds(db.db, at as EpochMs)))).toEqual(expected)
  })

  it.each([
    ['is running', 'running', [true, true]],
    ['has ended', 'completed', [true, false]],
  ])('records how long hashed idempotency keys are looked up if the run of a key %s', (_, status, expected) => {
    applyMigrations(database, { path, now, migrations: MIGRATIONS.slice(0, 17) })
    database.exec(`
      INSERT INTO run_keys VALUES (1, 'old');
      INSERT INTO runs (key, id, kind, target_id, owner, status, attempt, created_at, usage, metadata, input)
        VALUES (1, 'old', 'agent', 'echo', 'alice', '${status}', 1, 0, '{}', '{}', '1');
      INSERT INTO idempotency (id, run_id, content_of, status, fingerprint, created_at, expires_at)
        VALUES ('${'a'.repeat(64)}', 'old', 'old', ${status === 'running' ? 'NULL' : 200}, 'f', 0, 50)`)
    applyMigrations(database, { path, now })

    expect([49, 50].map((at) => runNow(idempotencyReads.holdsLegacyIds(db.db, at as EpochMs)))).toEqual(expected)
  })

  it('copies a database that holds data before migrating it, and keeps the copy', () => {
    applyMigrations(database, { path, now, migrations: [notes] })
    database.exec("INSERT INTO notes VALUES ('kept')")
    applyMigrations(database, { path, now, migrations: [notes, dates] })

    const copy = new Database(`${path}.before-2`, { readonly: true })
    expect(copy.prepare('SELECT * FROM notes').all()).toEqual([{ text: 'kept' }])
    expect(copy.pragma('user_version', { simple: true })).toBe(1)
    expect(statSync(`${path}.before-2`).mode & 0o777).toBe(0o600)
    copy.close()
  })

  it('makes no copy of a new database', () => {
    applyMigrations(database, { path, now, migrations: [notes, dates] })

    expect(existsSync(`${path}.before-1`) || existsSync(`${path}.before-2`)).toBe(false)
  })

  const copies = () => readdirSync(directory).filter((name) => name.includes('.before-'))

  it('returns the schema versions and the copy', () => {
    expect(applyMigrations(database, { path, now, migrations: [notes] })).toEqual({ from: 0, to: 1, copy: undefined })
    expect(applyMigrations(database, { path, now, migrations: [notes, dates] })).toEqual({
      ...{ from: 1, to: 2, copy: `${path}.before-2` },
    })
    expect(applyMigrations(database, { path, now, migrations: [notes, dates] })).toBeUndefined()
  })

  const textsIn = (copy: string) => {
    const opened = new Database(copy, { readonly: true })
    const texts = opened.prepare('SELECT text FROM notes').pluck().all()
    opened.close()
    return texts
  }

  it('never replaces a copy with other content', () => {
    applyMigrations(database, { path, now, migrations: [notes] })
    database.exec("INSERT INTO notes VALUES ('first')")
    applyMigrations(database, { path, now, migrations: [notes, dates] })
    database.exec(`
      ALTER TABLE notes DROP COLUMN at; DELETE FROM schema_migrations WHERE version = 2; PRAGMA user_version = 1;
      INSERT INTO notes VALUES ('later')`)

    expect(applyMigrations(database, { path, now, migrations: [notes, dates] })?.copy).toBe(`${path}.before-2.2`)
    expect([textsIn(`${path}.before-2`), textsIn(`${path}.before-2.2`)]).toEqual([['first'], ['first', 'later']])
  })

  it('reuses the copy of an attempt that was killed', () => {
    applyMigrations(database, { path, now, migrations: [notes] })
    database.exec("INSERT INTO notes VALUES ('kept')")
    database.prepare('VACUUM INTO ?').run(`${path}.before-2`)

    expect(applyMigrations(database, { path, now, migrations: [notes, dates] })?.copy).toBe(`${path}.before-2`)
    expect(copies()).toEqual(['data.db.before-2'])
  })

  it('keeps no copy if the first pending migration fails, and the copy of an earlier attempt otherwise', () => {
    const brokenLater = { ...broken, version: 3 }
    applyMigrations(database, { path, now, migrations: [notes] })
    expect(() => applyMigrations(database, { path, now, migrations: [notes, broken] })).toThrow()
    expect(copies()).toEqual([])

    const attempt = () => applyMigrations(database, { path, now, migrations: [notes, dates, brokenLater] })
    expect(attempt).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(`The copy ${path}.before-2 has the schema`) }),
    )
    expect(attempt).toThrow()
    expect(copies()).toEqual(['data.db.before-2'])
  })

  it('rolls back a failing migration and keeps the earlier ones', () => {
    expect(() => applyMigrations(database, { path, now, migrations: [notes, broken] })).toThrow(
      expect.objectContaining({ kind: 'migration-failed', message: expect.stringContaining('2 (broken)') }),
    )

    expect(tables()).toEqual(['notes', 'schema_migrations'])
    expect(database.pragma('user_version', { simple: true })).toBe(1)
    expect(appliedMigrations(database)).toHaveLength(1)
    expect(database.inTransaction).toBe(false)
  })

  it('rejects a database if the text of an applied migration differs', () => {
    applyMigrations(database, { path, now, migrations: [notes] })
    const edited = { ...notes, sql: `${notes.sql} -- edited` }

    expect(() => applyMigrations(database, { path, now, migrations: [edited, dates] })).toThrow(
      expect.objectContaining({ kind: 'migration-failed', message: expect.stringContaining('1 (notes)') }),
    )
    expect(appliedMigrations(database)).toHaveLength(1)
  })

  it('rejects a database written by a newer release', () => {
    applyMigrations(database, { path, now, migrations: [notes, dates] })
    database.pragma('wal_checkpoint(TRUNCATE)')
    const before = readFileSync(path)

    expect(() => applyMigrations(database, { path, now, migrations: [notes] })).toThrow(
      expect.objectContaining({ kind: 'storage-newer-schema' }),
    )
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('does nothing if another connection has already migrated the database', () => {
    const other = openConnection(path).database
    applyMigrations(other, { path, now, migrations: [notes, dates] })
    other.close()

    applyMigrations(database, { path, now: () => 2_000, migrations: [notes, dates] })

    expect(appliedMigrations(database).map(({ appliedAt }) => appliedAt)).toEqual([1_000, 1_000])
  })
})
