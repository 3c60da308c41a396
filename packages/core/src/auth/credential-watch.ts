import type {
  Clock,
  Logger,
  SubjectRevocationStore,
  Timers,
  TokenRecord,
  TokenStore,
  UnitOfWork,
  Write,
} from '@perdure/ports'
import { type JwtCredential, parseJwtCredential } from './jwt-credential.ts'

/** Why a token no longer authorizes the streams and sockets that were opened with it. */
export type CredentialLoss = 'revoked' | 'expired' | 'scopes-lost'

/**
 * Calls `onLost` once, as soon as the token is revoked, expires or loses a scope: immediately after a revocation by
 * this process, at the moment of expiry, and within about a second after a change by another process on the same file.
 * A token that is already invalid is reported too. Returns a function that ends the watch; calling that function late
 * or twice is a no-op.
 */
export type WatchCredential = (tokenId: string, onLost: (reason: CredentialLoss) => void) => () => void

export interface CredentialWatchDeps {
  readonly tokens: Pick<TokenStore, 'findMany'>
  readonly subjectRevocations: Pick<SubjectRevocationStore, 'find'>
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

export interface CredentialWatch {
  readonly watchCredential: WatchCredential
  /** Checks the watched tokens now instead of at the next poll. */
  check(): Promise<void>
}

interface Watched {
  readonly listeners: Set<(reason: CredentialLoss) => void>
  /**
   * The scopes of the token at the first check; `undefined` before that check. Listeners are called when the token
   * loses one of these scopes.
   */
  scopes: readonly string[] | undefined
}

/** The state of the watched credentials. */
interface CredentialStates {
  readonly jwts: ReadonlyMap<string, JwtCredential>
  readonly records: ReadonlyMap<string, TokenRecord>
  /** By subject. */
  readonly revokedUntil: ReadonlyMap<string, number>
}

const entryOf = <V>(id: string, value: V | undefined): (readonly [string, V])[] =>
  value === undefined ? [] : [[id, value]]

const POLL_MS = 1_000

/** Runs one query per second for all watched tokens, and none while no token is watched. */
export function createCredentialWatch(deps: CredentialWatchDeps): CredentialWatch {
  const { tokens, subjectRevocations, clock, timers, logger } = deps
  const watched = new Map<string, Watched>()
  let cancel = () => {}
  let checks = 0
  let isFailing = false

  const lose = (tokenId: string, entry: Watched, reason: CredentialLoss) => {
    if (watched.get(tokenId) !== entry) return
    watched.delete(tokenId)
    for (const onLost of entry.listeners) {
      try {
        onLost(reason)
      } catch (error) {
        logger.error('cannot close a stream or socket whose token became invalid', error, { tokenId })
      }
    }
  }

  const readStates = async (ids: readonly string[]): Promise<CredentialStates> => {
    const jwts = new Map(ids.flatMap((id) => entryOf(id, parseJwtCredential(id))))
    const tokenIds = ids.filter((id) => !jwts.has(id))
    const subjects = [...new Set([...jwts.values()].map(({ subject }) => subject))]
    const stored = tokenIds.length === 0 ? [] : await tokens.findMany(tokenIds)
    const revoked = subjects.length === 0 ? [] : await subjectRevocations.find(subjects)
    return {
      jwts,
      records: new Map(stored.map((token) => [token.id, token])),
      revokedUntil: new Map(revoked.map(({ subject, issuedUntil }) => [subject, issuedUntil])),
    }
  }

  /** Returns the delay until the next check, in milliseconds. */
  const checkAll = async (): Promise<number> => {
    const entries = [...watched]
    const { jwts, records, revokedUntil } = await readStates(entries.map(([id]) => id))
    const now = clock.now()
    let nextMs = POLL_MS
    for (const [id, entry] of entries) {
      const jwt = jwts.get(id)
      const token = records.get(id)
      const loss = jwt === undefined ? lossOf(token, entry.scopes, now) : lossOfJwt(jwt, revokedUntil, now)
      if (loss !== undefined) lose(id, entry, loss)
      entry.scopes ??= token?.scopes
      const { expiresAt = now } = jwt ?? token ?? {}
      if (expiresAt > now) nextMs = Math.min(nextMs, expiresAt - now)
    }
    return nextMs
  }

  const check = async () => {
    const thisCheck = ++checks
    cancel()
    if (watched.size === 0) return
    let nextMs = POLL_MS
    try {
      nextMs = await checkAll()
      isFailing = false
    } catch (error) {
      if (!isFailing) logger.error('cannot check the tokens of open streams and sockets', error)
      isFailing = true
    }
    // A later check sets its own timer.
    if (thisCheck === checks && watched.size > 0) cancel = timers.after(nextMs, () => void check())
  }

  return {
    check,
    watchCredential(tokenId, onLost) {
      const entry = watched.get(tokenId) ?? { listeners: new Set(), scopes: undefined }
      watched.set(tokenId, entry)
      const listener = (reason: CredentialLoss) => onLost(reason)
      entry.listeners.add(listener)
      void check()
      return () => {
        entry.listeners.delete(listener)
        if (entry.listeners.size > 0 || watched.get(tokenId) !== entry) return
        watched.delete(tokenId)
        if (watched.size === 0) cancel()
      }
    },
  }
}

const REVOKING_WRITES: ReadonlySet<Write['type']> = new Set(['token.revoke', 'token.retire', 'subject.revoke'])

/** Checks the watched tokens as soon as a commit that revokes or rotates a token is durable. */
export function withCredentialCheck(unitOfWork: UnitOfWork, { check }: Pick<CredentialWatch, 'check'>): UnitOfWork {
  return {
    async commit(writes) {
      const outcome = await unitOfWork.commit(writes)
      if (outcome.committed && writes.some(({ type }) => REVOKING_WRITES.has(type))) await check()
      return outcome
    },
  }
}

function lossOfJwt(
  { subject, issuedAt, expiresAt }: JwtCredential,
  revokedUntil: ReadonlyMap<string, number>,
  now: number,
): CredentialLoss | undefined {
  if (issuedAt <= (revokedUntil.get(subject) ?? Number.NEGATIVE_INFINITY)) return 'revoked'
  return expiresAt <= now ? 'expired' : undefined
}

function lossOf(
  token: TokenRecord | undefined,
  held: readonly string[] | undefined,
  now: number,
): CredentialLoss | undefined {
  if (token === undefined || token.revokedAt !== undefined) return 'revoked'
  if (token.expiresAt !== undefined && token.expiresAt <= now) return 'expired'
  return held?.some((scope) => !token.scopes.includes(scope)) ? 'scopes-lost' : undefined
}
