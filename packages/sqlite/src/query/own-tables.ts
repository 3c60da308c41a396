import type { Schema as StorageSchema, EventTable as StoredEventTable } from '@perdure/storage'
import type { Generated } from 'kysely'

/** The tables after the newest migration, with those that only SQLite has. */
export interface Schema extends Omit<StorageSchema, 'events'> {
  readonly run_keys: RunKeyTable
  readonly events: EventTable
}

/** Maps a run id to the integer key used inside the database; assigned when the run is first mentioned. */
export interface RunKeyTable {
  readonly key: Generated<number>
  readonly run_id: string
}

export interface EventTable extends Omit<StoredEventTable, 'position'> {
  readonly position: Generated<number>
  readonly run_key: number | null
}
