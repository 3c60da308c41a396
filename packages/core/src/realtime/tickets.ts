import {
  type Clock,
  type Digest,
  type EpochMs,
  fromJsonText,
  type IdGenerator,
  perdureError,
  plusMs,
  type TicketLimits,
  type TicketRecord,
  type TicketStore,
  type TokenStore,
  toJsonText,
} from '@perdure/ports'
import { base64Url } from '../auth/base64-url.ts'
import { holderOf, parseJwtCredential } from '../auth/jwt-credential.ts'
import type { AttemptLimiter } from '../auth/lockout.ts'
import type { Principal } from '../auth/principal.ts'
import { isJwtRevoked, type SubjectRevocations } from '../auth/revoke-subject.ts'

export interface TicketsDeps {
  readonly store: TicketStore
  /** The clock of the store: monotonic if only this process uses it. */
  readonly now: () => number
  readonly tokens: Pick<TokenStore, 'find'>
  readonly subjectRevocations: SubjectRevocations
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

/** Single-use credentials for opening WebSockets. */
export interface Tickets {
  /**
   * Issues a ticket that authenticates as the principal. If `origin` is given, the ticket is valid only from that
   * origin.
   *
   * @throws PerdureError `ticket-limit-exceeded`; an outstanding ticket is never evicted to make room
   */
  issue(principal: Principal, origin: string | undefined): Promise<IssuedTicket>
  /**
   * Consumes the ticket, even if redeeming it fails. The returned principal has the current scopes of its token. A
   * ticket that was never issued counts as a failed attempt of the address; an expired or used ticket does not, because
   * it is not a guess.
   *
   * @throws PerdureError `auth-invalid` if the ticket is unknown, used, expired or bound to another origin; `auth-revoked`
   *   or `auth-expired` if its token is revoked or expired; `auth-locked-out`
   */
  redeem(ticket: string, origin: string | undefined, clientAddress: string): Promise<Principal>
}

const TICKET_BYTES = 32
const MAX_OUTSTANDING = 10_000

export function createTickets(deps: TicketsDeps): Tickets {
  const { store, now, tokens, subjectRevocations, clock, ids, digest, attempts, ttlMs, maxPerToken } = deps
  const limits: TicketLimits = { perHolder: maxPerToken, total: MAX_OUTSTANDING }

  const take = async (ticket: string, clientAddress: string): Promise<TicketRecord> => {
    const taken = await store.take(digest.sha256(ticket), now())
    if (taken === undefined) attempts.recordRefusal(clientAddress)
    if (taken === undefined || taken === 'spent') throw invalidTicket()
    return taken
  }

  /** The principal with the rights that its credential has now. */
  const current = async (principal: Principal): Promise<Principal> => {
    if (principal.tokenId === undefined) return principal
    const jwt = parseJwtCredential(principal.tokenId)
    if (jwt !== undefined) {
      if (await isJwtRevoked(subjectRevocations, jwt)) throw perdureError('auth-revoked')
      checkExpiry(jwt.expiresAt)
      return principal
    }
    const token = await tokens.find(principal.tokenId)
    if (token === undefined || token.revokedAt !== undefined) throw perdureError('auth-revoked')
    checkExpiry(token.expiresAt)
    return { ...principal, scopes: token.scopes }
  }

  const checkExpiry = (expiresAt: number | undefined) => {
    if (expiresAt !== undefined && expiresAt <= clock.now()) throw perdureError('auth-expired')
  }

  return {
    async issue(principal, origin) {
      const ticket = base64Url(ids.randomBytes(TICKET_BYTES))
      const at = now()
      const record: TicketRecord = {
        digest: digest.sha256(ticket),
        holder: holderOf(principal.tokenId ?? principal.subject),
        principal: toJsonText(principal),
        origin,
        expiresAt: at + ttlMs,
      }
      if (await store.insert(record, limits, at)) return { ticket, expiresAt: plusMs(clock.now(), ttlMs), ttlMs }
      throw perdureError('ticket-limit-exceeded', {
        hint: 'use an outstanding ticket, or wait until a ticket expires',
        retryAfter: ttlMs,
      })
    },

    async redeem(ticket, origin, clientAddress) {
      attempts.admit(clientAddress)
      const taken = await take(ticket, clientAddress)
      if (taken.origin !== undefined && taken.origin !== origin) throw invalidTicket()
      return current(fromJsonText(taken.principal) as Principal)
    },
  }
}

const invalidTicket = () =>
  perdureError('auth-invalid', { message: 'the ticket is unknown, expired, used, or bound to another origin' })
