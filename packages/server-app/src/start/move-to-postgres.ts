import { StartError } from '@perdure/ports'
import type { PostgresImport } from '@perdure/postgres'
import type { ServerConfig } from '@perdure/protocol'
import { type Encryption, openSqliteExport, type SqliteExport } from '@perdure/sqlite'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { loadPostgres } from './open-storage.ts'
import type { DatabaseAccess } from './pre-bind.ts'
import { resolveSecret } from './resolve-references.ts'

/** A database file and the schema that its content is moved to. */
export interface Move {
  readonly path: string
  readonly encryption?: Encryption | undefined
  readonly schema: string
}

/** A table that was copied and compared. */
interface TableCopy {
  readonly name: string
  readonly rows: number
  /** Over the hash of each row, in the order of the table; in lower-case hex. */
  readonly sha256: string
}

/** A move that is done. */
export interface Moved {
  readonly path: string
  readonly schema: string
  /** The compared tables; `undefined` if an earlier command had copied them. */
  readonly tables?: readonly TableCopy[] | undefined
  /** Entries of the audit chain that were walked. */
  readonly auditEntries?: number | undefined
}

export interface MoveToPostgres {
  /** The database, and, if it moves too, the audit log. All of them move, or none. */
  readonly moves: readonly Move[]
  readonly urlRef: string
  /** The certificate of the authority that signed the certificate of the server. */
  readonly caRef?: string | undefined
  /** Called after each table. */
  readonly onTable?: ((path: string, table: TableCopy) => void) | undefined
}

/**
 * Moves databases from files to schemas of a PostgreSQL database: copies every row, compares the two sides and walks the
 * audit chain. Then the files are marked as moved, and servers may open the schemas. Interrupted at any point, it leaves
 * either files that a server opens or nothing that a server opens, and can be repeated.
 *
 * @throws StartError `copy-refused`, `storage-moved`, and as the two adapters
 */
export async function moveToPostgres(
  config: ServerConfig,
  { configDir = process.cwd(), adapters = {} }: Pick<ServerOptions, 'configDir' | 'adapters'>,
  { moves, urlRef, caRef, onTable }: MoveToPostgres,
): Promise<readonly Moved[]> {
  const platform = createPlatform(config, configDir, adapters)
  const secret = async (flag: string, reference: string) =>
    new TextDecoder().decode(await resolveSecret(platform, flag, reference)).trim()
  const database: DatabaseAccess = {
    url: await secret('--to-url-ref', urlRef),
    ca: caRef === undefined ? undefined : await secret('--ca-ref', caRef),
  }
  const { openPostgresImport } = await loadPostgres(configDir)
  const opened: OpenMove[] = []
  try {
    for (const { path, encryption, schema } of moves) {
      const source = await openSqliteExport({ path, encryption })
      opened.push({ source })
      const target = await openPostgresImport({ ...database, schema, epoch: source.epoch, movedTo: source.movedTo })
      opened.splice(-1, 1, { source, target })
      requireMovable(source, target)
    }
    const copied: Moved[] = []
    for (const { source, target } of opened) copied.push(await copy(source, target, onTable))
    const address = addressOf(database.url)
    // From the first mark to the last `finish`, no server opens any of them: only a repeated command ends this state.
    for (const { source, target } of opened) source.markMoved(`${address}, schema ${target?.schema}`)
    for (const { source, target } of opened) if (target?.isDone === false) await target.finish(source)
    return copied
  } finally {
    for (const { source, target } of opened) {
      source.close()
      await target?.close()
    }
  }
}

interface OpenMove {
  readonly source: SqliteExport
  readonly target?: PostgresImport
}

/** A file that was moved may only finish the move to the same schema. */
function requireMovable({ path, movedTo }: SqliteExport, { isDone, schema }: PostgresImport): void {
  if (movedTo !== undefined || !isDone) return
  throw new StartError('copy-refused', {
    message: `The schema ${schema} already holds the database ${path}, and the file is not marked as moved.`,
    hint: 'If the file was restored from a backup, use the schema or drop it. Nothing was copied.',
  })
}

async function copy(
  source: SqliteExport,
  target: PostgresImport | undefined,
  onTable: MoveToPostgres['onTable'],
): Promise<Moved> {
  const { path } = source
  if (target === undefined || target.isDone) return { path, schema: target?.schema ?? '' }
  requireSameTables(source, target)
  const tables: TableCopy[] = []
  for (const table of source.tables) {
    const copied = await target.copyTable({ table, rows: source.rows(table), count: source.count(table) })
    tables.push(copied)
    onTable?.(path, copied)
  }
  return { path, schema: target.schema, tables, auditEntries: await target.checkChain() }
}

/** Both adapters come from one release, so a difference is a defect. */
function requireSameTables({ tables }: SqliteExport, { tableNames }: PostgresImport): void {
  const names = tables.map(({ name }) => name)
  const different = [
    ...names.filter((name) => !tableNames.includes(name)),
    ...tableNames.filter((name) => !names.includes(name)),
  ]
  if (different.length > 0) throw new Error(`tables that only one adapter has: ${different.join(', ')}`)
}

/** Where the database is, without the secrets of its URL. */
function addressOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `PostgreSQL ${host}${pathname}`
  } catch {
    return 'PostgreSQL'
  }
}
