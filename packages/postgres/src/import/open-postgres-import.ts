import { StartError } from '@perdure/ports'
import { requireSchema, requireUsableServer, translateStartError } from '../connection/hello.ts'
import { applyMigrations } from '../connection/migrate.ts'
import { serverOptions } from '../connection/server-options.ts'
import { openSession, type Session } from '../connection/session.ts'
import type { PostgresStorageOptions } from '../postgres-storage-options.ts'
import { type CatalogTable, FILLED_TABLES, OWN_TABLES, readCatalog } from './catalog.ts'
import { checkChain } from './check-chain.ts'
import type { TableCopy, TableSource } from './copied-table.ts'
import { copyMark, removeCopyMark, storeCopyMark } from './copy-mark.ts'
import { copyTable } from './copy-table.ts'

export interface PostgresImportOptions extends Pick<PostgresStorageOptions, 'url' | 'schema' | 'ca' | 'now'> {
  /** The epoch of the database that is copied. */
  readonly epoch: string
  /** Where the database was moved before, for people: then the schema must have been its target. */
  readonly movedTo?: string | undefined
}

export interface LogState {
  /** Events up to this position may be deleted. */
  readonly trimmedThrough: number
  /** Until when idempotency records with ids of an old form stay valid, in epoch milliseconds. */
  readonly legacyIdsUntil: number
}

/** An empty schema that is filled with the rows of another database. */
export interface PostgresImport {
  readonly schema: string
  /** Whether a finished copy of the database is in the schema. Nothing can be copied then. */
  readonly isDone: boolean
  /** Tables that a copy must fill or leave empty. */
  readonly tableNames: readonly string[]
  /**
   * Inserts the rows of a table, and compares them with what is stored then. Call it once for each table.
   *
   * @throws StartError `copy-refused` if the two sides differ
   */
  copyTable(source: TableSource): Promise<TableCopy>
  /** Walks the copied audit chain and returns its number of entries. @throws StartError `copy-refused` */
  checkChain(): Promise<number>
  /** Stores the state of the log, and then lets servers open the schema. */
  finish(log: LogState): Promise<void>
  close(): Promise<void>
}

/**
 * Creates and migrates the schema as needed, and marks it as an unfinished copy. Until `finish`, no storage opens the
 * schema, whatever becomes of this process. If the schema has an unfinished copy of the same database, its rows are
 * deleted first.
 *
 * @throws StartError `copy-refused` for a schema with other rows; `storage-locked` if a server or another copy uses it;
 *   otherwise as `openPostgresStorage`
 */
export async function openPostgresImport({
  epoch,
  movedTo,
  now = Date.now,
  ...options
}: PostgresImportOptions): Promise<PostgresImport> {
  const server = serverOptions({ ...options, statementTimeoutMs: 0, pipeline: false })
  const { schema } = server
  const session = await openSession(server, { name: 'copy', planning: 'default', isPatient: true }).catch(
    (error: unknown) => {
      throw translateStartError(error)
    },
  )
  try {
    await requireUsableServer(session)
    await applyMigrations(session, { schema, now })
    await requireSchema(session, schema)
    await run(session, SETTINGS)
    if (!(await takeCopyLock(session))) throw lockedError(schema, 'Another command copies a database into')
    const catalog = await readCatalog(session.execute)
    const isDone = (await copyMark(session.execute)) === undefined && (await epochOf(session)) === epoch
    const target = { schema, epoch, movedTo, catalog, isDone }
    if (!isDone) await claim(session, target)
    return createImport(session, target)
  } catch (error) {
    await session.close()
    throw translateStartError(error)
  }
}

interface Target {
  readonly schema: string
  readonly epoch: string
  readonly movedTo: string | undefined
  readonly catalog: ReadonlyMap<string, CatalogTable>
  readonly isDone: boolean
}

function createImport(session: Session, { schema, epoch, catalog, isDone }: Target): PostgresImport {
  const { execute } = session
  return {
    schema,
    isDone,
    tableNames: [...catalog.keys()].filter((name) => !OWN_TABLES.has(name)),
    copyTable: (copy) => copyTable(execute, { ...copy, catalog: catalog.get(copy.table.name) }),
    checkChain: () => checkChain(execute),
    async finish({ trimmedThrough, legacyIdsUntil }) {
      await run(session, 'begin')
      await storeMeta(session, 'epoch', epoch)
      await storeMeta(session, 'trimmed_through', String(trimmedThrough))
      await storeMeta(session, 'hashed_ids_until', String(legacyIdsUntil))
      await removeCopyMark(execute)
      await run(session, 'commit')
    },
    close: session.close,
  }
}

/**
 * A transaction may wait for the reader of the database file, and must not be ended for that. A table is written by this
 * session alone, so its statements have no locks to wait for but those of other programs.
 */
const SETTINGS = 'set idle_in_transaction_session_timeout = 0; set lock_timeout = 60000'

/** The first key of the advisory lock of a copy; the second is the hash of the schema. */
const COPY_LOCK = 0x62_65_72_63

async function takeCopyLock(session: Session): Promise<boolean> {
  const { rows } = await run(session, `select pg_try_advisory_lock(${COPY_LOCK}, hashtext(current_schema())) as taken`)
  return (rows[0] as { taken: boolean }).taken
}

/**
 * Stores the mark in a schema that is empty, or that an earlier copy of the same database has filled. While the table
 * `nodes` is locked, no server joins; one that joins later finds the mark.
 */
async function claim(session: Session, { schema, epoch, movedTo, catalog }: Target): Promise<void> {
  const { execute } = session
  await run(session, 'begin')
  await run(session, 'lock table nodes in share row exclusive mode')
  const mark = await copyMark(execute)
  if (mark !== undefined && mark !== epoch) throw otherCopyError(schema)
  if (mark === undefined && movedTo !== undefined) throw elsewhereError(schema, movedTo)
  if (await hasRows(session, 'nodes')) throw lockedError(schema, 'A server uses, or a server that crashed has used,')
  const tables = [...catalog.keys()].filter((name) => !FILLED_TABLES.has(name))
  if (mark === undefined) {
    for (const name of tables) if (await hasRows(session, name)) throw filledError(schema, name)
    await storeCopyMark(execute, epoch)
  } else {
    await run(session, `truncate ${tables.map((name) => `"${name}"`).join(', ')}`)
  }
  await run(session, 'commit')
}

async function epochOf(session: Session): Promise<string | undefined> {
  const { rows } = await run(session, `select value from meta where name = 'epoch'`)
  return (rows[0] as { value: string } | undefined)?.value
}

async function hasRows(session: Session, table: string): Promise<boolean> {
  const { rows } = await run(session, `select exists (select from "${table}") as "found"`)
  return (rows[0] as { found: boolean }).found
}

const storeMeta = (session: Session, name: string, value: string) =>
  run(
    session,
    'insert into meta (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [name, value],
  )

const run = ({ execute }: Session, text: string, values: unknown[] = []) => execute({ text, values })

const lockedError = (schema: string, who: string): StartError =>
  new StartError('storage-locked', {
    message: `${who} the schema ${schema} of the PostgreSQL database.`,
    hint: 'Stop it, or name another schema. If a server crashed before it stored anything, drop the schema. Nothing was copied.',
  })

const filledError = (schema: string, table: string): StartError =>
  new StartError('copy-refused', {
    message: `The schema ${schema} is not empty: its table ${table} has rows.`,
    hint: 'Name another schema with --schema, or drop this one if nobody needs its rows. Nothing was copied.',
  })

const elsewhereError = (schema: string, movedTo: string): StartError =>
  new StartError('storage-moved', {
    message: `The database was moved to ${movedTo}, not to the schema ${schema} of this database.`,
    hint: 'If that move was interrupted, run the command again with the same --to-url-ref and --schema. Nothing was copied.',
  })

const otherCopyError = (schema: string): StartError =>
  new StartError('copy-refused', {
    message: `The schema ${schema} holds an unfinished copy of another database file.`,
    hint: 'Finish that copy, drop the schema to give it up, or name another schema with --schema. Nothing was copied.',
  })
