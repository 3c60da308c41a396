import type { JsonText } from './values/json-text.ts'

/** A credential that opens one WebSocket. Stores never get the ticket itself. */
export interface TicketRecord {
  readonly digest: string // SHA-256 of the ticket
  readonly holder: string // whose tickets are limited: a token or a subject
  readonly principal: JsonText // opaque to stores
  readonly origin?: string | undefined // the only origin from which the ticket is valid
  readonly expiresAt: number // on the clock of `now`
}

/** How many tickets may be outstanding: neither taken nor expired. */
export interface TicketLimits {
  readonly perHolder: number
  readonly total: number
}

/**
 * Port. Keeps tickets until they are taken or expire; they need not survive a restart. Every process that shares the
 * store can take a ticket. `now` is in milliseconds, on one clock that all these processes share. Must pass
 * `ticketStoreContract`.
 */
export interface TicketStore {
  /**
   * Stores the ticket and returns true, unless its holder has `perHolder` outstanding tickets or all holders together
   * have `total`. Concurrent callers do not exceed the limits.
   */
  insert(ticket: TicketRecord, limits: TicketLimits, now: number): Promise<boolean>
  /**
   * Removes an outstanding ticket and returns it; of concurrent callers, exactly one gets it. Returns `spent` for a
   * ticket that was taken or has expired, until the store forgets it: at the earliest after 1,000 further tickets.
   * Returns `undefined` for any other digest.
   */
  take(digest: string, now: number): Promise<TicketRecord | 'spent' | undefined>
}
