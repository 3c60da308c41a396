import type { Schema as StorageSchema, EventTable as StoredEventTable } from '@perdure/storage'
import type { LockoutTable, TicketTable } from '../access/access-schema.ts'
import type { DepartedNodeTable, DutyTable, NodeGroupTable, NodeTable } from './node-schema.ts'

/** The tables after the newest migration, with those that only PostgreSQL has. */
export interface Schema extends Omit<StorageSchema, 'events'> {
  readonly nodes: NodeTable
  readonly node_groups: NodeGroupTable
  readonly departed_nodes: DepartedNodeTable
  readonly duties: DutyTable
  readonly tickets: TicketTable
  readonly lockouts: LockoutTable
  readonly events: EventTable
}

export interface EventTable extends StoredEventTable {
  readonly run_id: string | null
}
