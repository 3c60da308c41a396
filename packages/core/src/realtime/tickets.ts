import {
  AppError,
  type Clock,
  type Digest,
  type EpochMs,
  type IdGenerator,
  plusMs,
  type TokenStore,
} from '@perdure/ports'
import type { Attempts } from '../auth/lockout.ts'
import type { Principal } from '../auth/principal.ts'
import { createBoundedMap } from '../collections/bounded-map.ts'

export interface TicketsDeps {
  readonly tokens: Pick<TokenStore, 'find'>
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly digest: Pick<Digest, 'sha256'>
  readonly attempts: Attempts
  readonly ttlMs: number
  readonly maxPerToken: number // outstanding ones
}

export interface IssuedTicket {
  readonly ticket: string
  readonly expiresAt: EpochMs
  readonly ttlMs: number
}

/** Single-use credentials of WebSockets, in memory, under their SHA-256. */
export interface Tickets {
  /**
   * A ticket that speaks for the principal, and only from this origin when there is one.
   *
   * @throws AppError `ticket-limit-exceeded`; outstanding tickets are never taken away for a new one
   */
  issue(principal: Principal, origin: string | undefined): IssuedTicket
  /**
   * Uses the ticket up, whatever comes of it. The principal has the rights its token has now. What was never issued counts
   * as a failed attempt of the address; a ticket that was, and came too late or twice, is nobody's guess.
   *
   * @throws AppError `auth-invalid` when it is unknown, used, expired or of another origin; `auth-revoked`,
   *   `auth-expired` when its token is; `auth-locked-out`
   */
  redeem(ticket: string, origin: string | undefined, clientAddress: string): Promise<Principal>
}

interface Outstanding {
  readonly holder: string
  readonly principal: Principal
  readonly origin: string | undefined
  readonly deadlineMs: number // monotonic
}

const TICKET_BYTES = 32
const MAX_OUTSTANDING = 10_000
const MAX_SPENT = 10_000

export function createTickets(deps: TicketsDeps): Tickets {
  const { tokens, clock, ids, digest, attempts, ttlMs, maxPerToken } = deps
  /** In the order in which they expire. */
  const outstanding = new Map<string, Outstanding>()
  const held = new Map<string, number>()
  /** The newest of those that cannot be used any more. */
  const spent = createBoundedMap<string, true>(MAX_SPENT)

  const remove = (key: string, { holder }: Outstanding) => {
    outstanding.delete(key)
    spent.set(key, true)
    const left = (held.get(holder) ?? 1) - 1
    if (left === 0) held.delete(holder)
    else held.set(holder, left)
  }

  const removeExpired = () => {
    const now = clock.monotonicMs()
    for (const [key, entry] of outstanding) {
      if (entry.deadlineMs > now) return
      remove(key, entry)
    }
  }

  const take = (key: string, clientAddress: string): Outstanding => {
    const entry = outstanding.get(key)
    if (entry === undefined) {
      if (spent.get(key) === undefined) attempts.refused(clientAddress)
      throw unusable()
    }
    remove(key, entry)
    return entry
  }

  return {
    issue(principal, origin) {
      removeExpired()
      const holder = principal.tokenId ?? principal.subject
      const count = held.get(holder) ?? 0
      if (count >= maxPerToken || outstanding.size >= MAX_OUTSTANDING) {
        throw new AppError('ticket-limit-exceeded', { hint: 'use the tickets you have', retryAfterMs: ttlMs })
      }
      const ticket = base64Url(ids.randomBytes(TICKET_BYTES))
      const deadlineMs = clock.monotonicMs() + ttlMs
      outstanding.set(digest.sha256(ticket), { holder, principal, origin, deadlineMs })
      held.set(holder, count + 1)
      return { ticket, expiresAt: plusMs(clock.now(), ttlMs), ttlMs }
    },

    async redeem(ticket, origin, clientAddress) {
      attempts.admit(clientAddress)
      const entry = take(digest.sha256(ticket), clientAddress)
      if (entry.deadlineMs <= clock.monotonicMs()) throw unusable()
      if (entry.origin !== undefined && entry.origin !== origin) throw unusable()
      const { principal } = entry
      if (principal.tokenId === undefined) return principal
      const token = await tokens.find(principal.tokenId)
      if (token === undefined || token.revokedAt !== undefined) throw new AppError('auth-revoked')
      if (token.expiresAt !== undefined && token.expiresAt <= clock.now()) throw new AppError('auth-expired')
      return { ...principal, scopes: token.scopes }
    },
  }
}

const unusable = () =>
  new AppError('auth-invalid', { message: 'the ticket is unknown, expired, used, or of another origin' })

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '')
