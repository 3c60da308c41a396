import type { Generated } from 'kysely'

export interface TicketTable {
  readonly number: Generated<number>
  readonly digest: string
  readonly holder: string
  readonly principal: string // emptied when the ticket is spent
  readonly origin: string | null
  readonly expires_at: number
  readonly is_spent: Generated<boolean>
}

export interface LockoutTable {
  readonly address: string
  readonly failed_at: string // JSON
  readonly locks: number
  readonly locked_until: number
  readonly last_at: number // of the last failure, or the end of the last lock
  readonly version: number
}
