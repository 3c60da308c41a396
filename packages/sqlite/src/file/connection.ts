import type Database from 'better-sqlite3'
import { type OpenDatabase, openPlain } from './open-database.ts'
import type { Query } from './query.ts'
import type { Synchronous } from './synchronous.ts'

/** One open database file and the statements prepared on it. Everything is synchronous. */
export interface Connection {
  readonly database: Database.Database
  run<Values>(query: Query<Values, unknown>, values: Values): Database.RunResult
  get<Values, Row>(query: Query<Values, Row>, values: Values): Row | undefined
  all<Values, Row>(query: Query<Values, Row>, values: Values): readonly Row[]
  /** Row by row; nothing else can be written on this connection until it ends. */
  each<Values, Row>(query: Query<Values, Row>, values: Values): Iterable<Row>
  /** The query of this name, built when it is not remembered: for queries whose conditions vary. */
  variant<Values, Row>(name: string, build: () => Query<Values, Row>): Query<Values, Row>
}

export interface ConnectionOptions {
  readonly synchronous?: Synchronous | undefined
  /** How to open the file; without encryption when missing. */
  readonly open?: OpenDatabase | undefined
}

/** Opens the file for reading and writing and sets every pragma; creates it when it is missing. */
export function openConnection(path: string, options: ConnectionOptions = {}): Connection {
  const { synchronous = 'full', open = openPlain } = options
  const database = open(path, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.pragma(`page_size = ${PAGE_BYTES}`)
    database.pragma('journal_mode = WAL')
    database.pragma(`synchronous = ${synchronous}`)
    for (const setting of SETTINGS) database.pragma(setting)
    database.pragma(`wal_autocheckpoint = ${LOG_BYTES / Number(database.pragma('page_size', { simple: true }))}`)
  } catch (error) {
    database.close()
    throw error
  }
  return createConnection(database)
}

/** As `openConnection`; it never waits for a lock and never moves the log into the file. */
export function openInlineConnection(path: string, options: ConnectionOptions): Connection {
  const db = openConnection(path, options)
  db.database.pragma('busy_timeout = 0')
  db.database.pragma('wal_autocheckpoint = 0')
  return db
}

/** Of a new file. A commit writes whole pages, mostly for a few dozen bytes each; a file that is there keeps its own size. */
export const PAGE_BYTES = 2_048

/** How much the write-ahead log holds before it is moved into the file. */
const LOG_BYTES = 8 * 1024 * 1024

/** How long a statement waits for the lock of another process. */
export const BUSY_TIMEOUT_MS = 5_000
const MAX_VARIANTS = 256

const SETTINGS = [
  'foreign_keys = ON',
  `journal_size_limit = ${64 * 1024 * 1024}`,
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'mmap_size = 0',
  'temp_store = MEMORY',
  // A commit that splits a page walks over all that is cached; the hot pages are few.
  'cache_size = -2000',
]

function createConnection(database: Database.Database): Connection {
  const statements = new WeakMap<Query<never, unknown>, Database.Statement>()
  const variants = new Map<string, Query<never, unknown>>()

  const prepared = (query: Query<never, unknown>): Database.Statement => {
    const known = statements.get(query)
    if (known !== undefined) return known
    const statement = database.prepare(query.sql)
    statements.set(query, statement)
    return statement
  }

  return {
    database,
    run: (query, values) => prepared(query).run(...query.bind(values)),
    get: <Values, Row>(query: Query<Values, Row>, values: Values) =>
      prepared(query).get(...query.bind(values)) as Row | undefined,
    all: <Values, Row>(query: Query<Values, Row>, values: Values) =>
      prepared(query).all(...query.bind(values)) as readonly Row[],
    each: <Values, Row>(query: Query<Values, Row>, values: Values) =>
      prepared(query).iterate(...query.bind(values)) as Iterable<Row>,
    variant<Values, Row>(name: string, build: () => Query<Values, Row>) {
      const known = variants.get(name)
      if (known !== undefined) return known as Query<Values, Row>
      if (variants.size === MAX_VARIANTS) variants.clear()
      const built = build()
      variants.set(name, built)
      return built
    },
  }
}
