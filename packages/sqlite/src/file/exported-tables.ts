import type Database from 'better-sqlite3'
import type { ExportedTable } from './exported-table.ts'

/** A table that refers to a row of another table by a key that only this file knows. */
interface Owner {
  readonly table: string
  readonly id: string
  /** The column with the key of the owner. */
  readonly by: string
  /** The name of the exported column, which has the id of the owner instead. */
  readonly as: string
  /** Whether a row may have no owner. */
  readonly isOptional?: true
}

interface TableSpec {
  readonly name: string
  /** Exported columns by which the rows are sorted, and which identify a row. */
  readonly order: readonly string[]
  readonly owner?: Owner
  /** Whether the column `key` is exported: lists are sorted by it, or it is no key of this file. */
  readonly keepsKey?: true
}

const ofRun = (by: string, as: string): Owner => ({ table: 'run_keys', id: 'run_id', by, as })
const ofSession: Owner = { table: 'sessions', id: 'id', by: 'session_key', as: 'session_id' }

/** Every table with data. Rows are read in the order of an index, so no read sorts a table. */
const TABLES: readonly TableSpec[] = [
  { name: 'runs', order: ['id'], owner: ofRun('key', 'id') },
  { name: 'run_fields', order: ['run_id', 'field', 'value'], owner: ofRun('run_key', 'run_id') },
  { name: 'run_follow_ups', order: ['run_id'], owner: ofRun('run_key', 'run_id') },
  { name: 'deleted_usage', order: ['subject', 'day'] },
  { name: 'lanes', order: ['lane', 'slot'] },
  { name: 'steps', order: ['run_id', 'seq'], owner: ofRun('run_key', 'run_id'), keepsKey: true },
  { name: 'approvals', order: ['id'], keepsKey: true },
  { name: 'emissions', order: ['id'], keepsKey: true },
  { name: 'events', order: ['position'], owner: { ...ofRun('run_key', 'run_id'), isOptional: true } },
  { name: 'idempotency', order: ['id'] },
  { name: 'sessions', order: ['id'] },
  { name: 'session_fields', order: ['session_id', 'field', 'value'], owner: ofSession },
  { name: 'messages', order: ['session_id', 'seq'], owner: ofSession },
  { name: 'tokens', order: ['id'] },
  { name: 'subject_revocations', order: ['subject'] },
  { name: 'audit_entries', order: ['seq'] },
  { name: 'audit_heads', order: ['name'] },
  { name: 'audit_outbox', order: ['position'], keepsKey: true },
  { name: 'audit_sources', order: ['key'], keepsKey: true },
  { name: 'triggers', order: ['id'] },
  { name: 'trigger_fires', order: ['id'] },
  { name: 'mcp_servers', order: ['id'] },
  { name: 'facts', order: ['id'], keepsKey: true },
  {
    name: 'fact_vectors',
    order: ['fact_id'],
    owner: { table: 'facts', id: 'id', by: 'fact_key', as: 'fact_id' },
  },
  { name: 'blocks', order: ['id'] },
  { name: 'memory_conflicts', order: ['id'] },
  { name: 'jobs', order: ['id'] },
  { name: 'changed_sessions', order: ['session_id'] },
  { name: 'extractions', order: ['session_id'] },
  { name: 'consolidation_spend', order: ['day'] },
  { name: 'webhooks', order: ['id'] },
  { name: 'webhook_deliveries', order: ['id'] },
  { name: 'hook_deliveries', order: ['id'] },
  { name: 'files', order: ['id'] },
  { name: 'file_holders', order: ['file_id', 'session_id'] },
  { name: 'run_files', order: ['run_id', 'file_id'] },
  { name: 'chats', order: ['session_id'] },
]

export interface ExportQuery {
  readonly table: ExportedTable
  readonly sql: string
}

/** The exported tables, with all columns that the migrations have given them, and the query for the rows of each. */
export const exportQueries = (database: Database.Database): readonly ExportQuery[] =>
  TABLES.map((spec) => queryOf(spec, columnsOf(database, spec.name)))

function columnsOf(database: Database.Database, table: string): readonly string[] {
  return database.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table) as string[]
}

function queryOf({ name, order, owner, keepsKey }: TableSpec, all: readonly string[]): ExportQuery {
  const stored = all.filter((column) => column !== 'key' || keepsKey === true)
  const columns = stored.map((column) => (column === owner?.by ? owner.as : column))
  const table = { name, columns, order }
  const own = (column: string) => `${name}."${column}"`
  if (owner === undefined) {
    return { table, sql: `SELECT ${stored.map(own)} FROM ${name} ORDER BY ${order.map(own)}` }
  }
  const id = `${owner.table}.${owner.id}`
  const selected = stored.map((column) => (column === owner.by ? id : own(column)))
  if (owner.isOptional) {
    const joined = `${name} LEFT JOIN ${owner.table} ON ${owner.table}.key = ${own(owner.by)}`
    return { table, sql: `SELECT ${selected} FROM ${joined} ORDER BY ${order.map(own)}` }
  }
  const joined = `${owner.table} CROSS JOIN ${name} ON ${own(owner.by)} = ${owner.table}.key`
  const sorted = order.map((column) => (column === owner.as ? id : own(column)))
  return { table, sql: `SELECT ${selected} FROM ${joined} ORDER BY ${sorted}` }
}
