import type { Duty } from '@perdure/ports'
import type { Generated } from 'kysely'

export interface NodeTable {
  readonly id: string
  readonly name: string
  readonly role: NodeRole
  readonly started_at: Generated<Date>
  readonly lease_until: Date | null
  readonly version: string | null
  readonly schema_version: number | null
  readonly peppers: Generated<readonly string[]>
  readonly settings: Generated<string>
  readonly targets: Generated<readonly string[]>
  readonly declares: Generated<readonly string[] | null>
  readonly drain_requested: Generated<boolean>
  readonly is_draining: Generated<boolean>
}

/** `sole`: the only server; `member`: one of several servers; `guest`: a command beside servers. */
export type NodeRole = 'sole' | 'member' | 'guest'

export interface DepartedNodeTable {
  readonly id: string
  readonly departed_at: Generated<Date>
}

export interface DutyTable {
  readonly name: Duty
  readonly node: string
}

/** One transaction of a node. */
export interface NodeGroupTable {
  readonly node: string
  readonly number: number
  readonly first_position: number | null
  readonly completed: number | null // responses
}
