import {
  AppError,
  type Clock,
  type Digest,
  type EpochMs,
  type IdGenerator,
  plusMs,
  type TokenStore,
} from '@perdure/ports'
import type { AttemptLimiter } from '../auth/lockout.ts'
import type { Principal } from '../auth/principal.ts'
import { createBoundedMap } from '../collections/bounded-map.ts'

export interface TicketsDeps {
  readonly tokens: Pick<TokenStore, 'find'>
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly digest: Pick<Digest, 'sha256'>
  readonly attempts: AttemptLimiter
  readonly ttlMs: number
  readonly maxPerToken: number // outstanding tickets
}

export interface IssuedTicket {
  readonly ticket: string
  readonly expiresAt: EpochMs
  readonly ttlMs: number
}

/** Single-use credentials for opening WebSockets, held in memory under their SHA-256. */
export interface Tickets {
  /**
   * Issues a ticket that authenticates as the principal. If `origin` is given, the ticket is valid only from that
   * origin.
   *
   * @throws AppError `ticket-limit-exceeded`; an outstanding ticket is never evicted to make room
   */
  issue(principal: Principal, origin: string | undefined): IssuedTicket
  /**
   * Consumes the ticket, even if redeeming it fails. The returned principal has the current scopes of its token. A
   * ticket that was never issued counts as a failed attempt of the address; an expired or used ticket does not, because
   * it is not a guess.
   *
   * @throws AppError `auth-invalid` if the ticket is unknown, used, expired or bound to another origin; `auth-revoked`
   *   or `auth-expired` if its token is revoked or expired; `auth-locked-out`
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
const MAX_USED_KEYS = 10_000

export function createTickets(deps: TicketsDeps): Tickets {
  const { tokens, clock, ids, digest, attempts, ttlMs, maxPerToken } = deps
  /** In order of expiry. */
  const outstanding = new Map<string, Outstanding>()
  const countByHolder = new Map<string, number>()
  /** The tickets that were most recently used or expired. */
  const usedKeys = createBoundedMap<string, true>(MAX_USED_KEYS)

  const remove = (key: string, { holder }: Outstanding) => {
    outstanding.delete(key)
    usedKeys.set(key, true)
    const left = (countByHolder.get(holder) ?? 1) - 1
    if (left === 0) countByHolder.delete(holder)
    else countByHolder.set(holder, left)
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
      if (usedKeys.get(key) === undefined) attempts.recordRefusal(clientAddress)
      throw invalidTicket()
    }
    remove(key, entry)
    return entry
  }

  return {
    issue(principal, origin) {
      removeExpired()
      const holder = principal.tokenId ?? principal.subject
      const count = countByHolder.get(holder) ?? 0
      if (count >= maxPerToken || outstanding.size >= MAX_OUTSTANDING) {
        throw new AppError('ticket-limit-exceeded', {
          hint: 'use an outstanding ticket, or wait until a ticket expires',
          retryAfterMs: ttlMs,
        })
      }
      const ticket = base64Url(ids.randomBytes(TICKET_BYTES))
      const deadlineMs = clock.monotonicMs() + ttlMs
      outstanding.set(digest.sha256(ticket), { holder, principal, origin, deadlineMs })
      countByHolder.set(holder, count + 1)
      return { ticket, expiresAt: plusMs(clock.now(), ttlMs), ttlMs }
    },

    async redeem(ticket, origin, clientAddress) {
      attempts.admit(clientAddress)
      const entry = take(digest.sha256(ticket), clientAddress)
      if (entry.deadlineMs <= clock.monotonicMs()) throw invalidTicket()
      if (entry.origin !== undefined && entry.origin !== origin) throw invalidTicket()
      const { principal } = entry
      if (principal.tokenId === undefined) return principal
      const token = await tokens.find(principal.tokenId)
      if (token === undefined || token.revokedAt !== undefined) throw new AppError('auth-revoked')
      if (token.expiresAt !== undefined && token.expiresAt <= clock.now()) throw new AppError('auth-expired')
      return { ...principal, scopes: token.scopes }
    },
  }
}

const invalidTicket = () =>
  new AppError('auth-invalid', { message: 'the ticket is unknown, expired, used, or bound to another origin' })

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '')
