import type { Generated } from 'kysely'

export interface AuditTable {
  readonly seq: number
  readonly hash: string
  readonly prev_hash: string
  readonly entry: string // canonical JSON
}

export interface AuditHeadTable {
  readonly name: 'head' | 'base'
  readonly seq: number
  readonly hash: string
  readonly mac: string // HMAC-SHA256, lower-case hex
}

export interface AuditOutboxTable {
  readonly position: Generated<number>
  readonly key: string
  readonly entry: string
}

export interface AuditSourceTable {
  readonly key: string
}
