import { openConnection } from '../packages/sqlite/src/file/connection.ts'
import { appliedMigrations, applyMigrations } from '../packages/sqlite/src/file/migrate.ts'
import { MIGRATIONS } from '../packages/sqlite/src/migrations/migrations.ts'

/** The schema version of an old release. */
export const OLD_VERSION = 10
export const NEW_VERSION = MIGRATIONS.length
export const OLD_ROWS = 100_000

const now = () => 0

/** Fills a database of an earlier release with enough rows that its migration takes a noticeable time. */
export function fillOldDatabase(path: string): void {
  const { database } = openConnection(path)
  applyMigrations(database, { now, migrations: MIGRATIONS.slice(0, OLD_VERSION) })
  database.exec(`
    INSERT INTO idempotency (id, fingerprint, run_id, created_at, expires_at, status, body)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${OLD_ROWS})
    SELECT 'key-' || n, hex(n), 'run-' || n, 0, 9000000000000, 200, '{"n":' || n || '}' FROM numbers`)
  database.close()
}

/** Reads how far a file is migrated, its schema, its integrity and its row count. */
export function schemaOf(path: string) {
  const { database } = openConnection(path)
  try {
    return {
      version: database.pragma('user_version', { simple: true }) as number,
      applied: appliedMigrations(database).length,
      objects: objectsOf(database),
      integrity: database.pragma('integrity_check', { simple: true }),
      rows: database.prepare('SELECT count(*) FROM idempotency').pluck().get(),
    }
  } finally {
    database.close()
  }
}

/** The schema objects after the first `version` migrations. */
export function objectsThrough(version: number): readonly unknown[] {
  const { database } = openConnection(':memory:')
  applyMigrations(database, { now, migrations: MIGRATIONS.slice(0, version) })
  const objects = objectsOf(database)
  database.close()
  return objects
}

type Database = ReturnType<typeof openConnection>['database']

/** Excludes the statistics tables that SQLite maintains. */
const objectsOf = (database: Database): readonly unknown[] =>
  database
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name")
    .all()
