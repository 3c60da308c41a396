import type { Execute } from '../connection/connection.ts'

export interface CatalogColumn {
  readonly name: string
  /** Such as `bigint` or `text[]`. */
  readonly type: string
  /** Whether a sequence numbers the rows. */
  readonly isIdentity: boolean
}

export interface CatalogTable {
  readonly name: string
  readonly columns: readonly CatalogColumn[]
  /** Whether a trigger of the schema runs for its rows. */
  readonly hasTriggers: boolean
}

/** The tables of the schema, as the server describes them. */
export async function readCatalog(execute: Execute): Promise<ReadonlyMap<string, CatalogTable>> {
  const { rows } = await execute({ text: COLUMNS, values: [] })
  const tables = new Map<string, CatalogTable & { readonly columns: CatalogColumn[] }>()
  for (const { table, hasTriggers, ...column } of rows as readonly ColumnRow[]) {
    const known = tables.get(table) ?? { name: table, hasTriggers, columns: [] }
    known.columns.push(column)
    tables.set(table, known)
  }
  return tables
}

interface ColumnRow extends CatalogColumn {
  readonly table: string
  readonly hasTriggers: boolean
}

const COLUMNS = `
select relname::text as "table", attname::text as "name", format_type(atttypid, null) as "type",
  attidentity <> '' as "isIdentity",
  exists (select from pg_trigger where tgrelid = pg_class.oid and not tgisinternal) as "hasTriggers"
from pg_class
join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
order by relname, attnum`

/** Tables of which a database file has none, or others. They are empty in a schema without a server. */
export const OWN_TABLES: ReadonlySet<string> = new Set([
  ...['schema_migrations', 'meta', 'nodes', 'node_groups', 'departed_nodes', 'duties'],
  ...['tickets', 'lockouts'],
])

/** Tables that are not empty in a schema without data. */
export const FILLED_TABLES: ReadonlySet<string> = new Set(['schema_migrations', 'meta'])
