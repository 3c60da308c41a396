import { createVariants, type Db, type Query, ready } from '@perdure/storage'
import type Database from 'better-sqlite3'
import { SQLITE } from '../query/dialect.ts'
import { readTextPart } from '../query/text-part.ts'
import { type OpenDatabase, openPlain } from './open-database.ts'
import type { Synchronous } from './synchronous.ts'

/** One open database file and the statements prepared on it. Everything is synchronous. */
export interface Connection {
  readonly database: Database.Database
  /** The connection as programs use it. */
  readonly db: Db
  run<Values>(query: Query<Values, unknown>, values: Values): Database.RunResult
  get<Values, Row>(query: Query<Values, Row>, values: Values): Row | undefined
  all<Values, Row>(query: Query<Values, Row>, values: Values): readonly Row[]
  /** Yields rows one by one. This connection cannot write until the iteration ends. */
  each<Values, Row>(query: Query<Values, Row>, values: Values): Iterable<Row>
}

export interface ConnectionOptions {
  readonly synchronous?: Synchronous | undefined
  /** Opens the file; by default without encryption. */
  readonly open?: OpenDatabase | undefined
}

/** Opens the file for reading and writing, creating it if it is missing, and sets every pragma. */
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

/** Opens an existing file for reading only. */
export function openReadConnection(path: string, open: OpenDatabase): Connection {
  return createConnection(open(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS }))
}

/** Like `openConnection`, for a connection that never waits for a lock and never checkpoints. */
export function openInlineConnection(path: string, options: ConnectionOptions): Connection {
  const db = openConnection(path, options)
  db.database.pragma('busy_timeout = 0')
  db.database.pragma('wal_autocheckpoint = 0')
  return db
}

/**
 * Keeps the connection open until the process ends. Closing the last connection deletes the write-ahead log by its name,
 * even if another file now has that name, and so does garbage collection.
 */
export function keepOpen(db: Connection): void {
  keptOpen.add(db)
}

const keptOpen = new Set<Connection>()

/**
 * Page size of a new file; an existing file keeps its page size. Pages are small because a commit usually changes only
 * a few dozen bytes per page.
 */
export const PAGE_BYTES = 2_048

/** WAL size that triggers a checkpoint. */
const LOG_BYTES = 8 * 1024 * 1024

/** How long a statement waits for a lock that another process holds. */
export const BUSY_TIMEOUT_MS = 5_000

const SETTINGS = [
  'foreign_keys = ON',
  `journal_size_limit = ${64 * 1024 * 1024}`,
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'mmap_size = 0',
  'temp_store = MEMORY',
  // The page cache is small: few pages are hot, and a commit that splits a page walks the whole cache.
  'cache_size = -2000',
]

function createConnection(database: Database.Database): Connection {
  const statements = new WeakMap<Query<never, unknown>, Prepared<never>>()

  const prepared = <Values>(query: Query<Values, unknown>): Prepared<Values> => {
    const known = statements.get(query)
    if (known !== undefined) return known
    const { text, bind } = query.in(SQLITE)
    const one = { statement: database.prepare(text), bind }
    statements.set(query, one)
    return one
  }

  const connection: Omit<Connection, 'db'> = {
    database,
    run(query, values) {
      const { statement, bind } = prepared(query)
      return statement.run(...bind(values))
    },
    get<Values, Row>(query: Query<Values, Row>, values: Values) {
      const { statement, bind } = prepared(query)
      return statement.get(...bind(values)) as Row | undefined
    },
    all<Values, Row>(query: Query<Values, Row>, values: Values) {
      const { statement, bind } = prepared(query)
      return statement.all(...bind(values)) as readonly Row[]
    },
    each<Values, Row>(query: Query<Values, Row>, values: Values) {
      const { statement, bind } = prepared(query)
      return statement.iterate(...bind(values)) as Iterable<Row>
    },
  }
  return { ...connection, db: toDb(connection) }
}

const toDb = ({ run, get, all, each }: Omit<Connection, 'db'>): Db => ({
  dialect: SQLITE,
  run: (query, values) => ready(run(query, values).changes),
  get: (query, values) => ready(get(query, values)),
  all: (query, values) => ready(all(query, values)),
  each: (query, values) => ready(each(query, values)),
  textPart: (part) => ready(readTextPart({ get }, part)),
  variant: createVariants(),
})

interface Prepared<Values> {
  readonly statement: Database.Statement
  bind(values: Values): unknown[]
}
