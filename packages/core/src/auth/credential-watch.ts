import type { Clock, Logger, Timers, TokenRecord, TokenStore, UnitOfWork, Write } from '@perdure/ports'

/** Why a token that opened something may not keep it open. */
export type CredentialLoss = 'revoked' | 'expired' | 'scopes-lost'

/**
 * Calls `onLost` once, when the token is no longer what it was: at once after a revocation by this process, at the moment
 * it expires, and within a second or so after a change by another process on the same file. Returns a function that ends
 * the watch; calling it late or twice is a no-op. A token that was lost before the watch began is found too.
 */
export type WatchCredential = (tokenId: string, onLost: (reason: CredentialLoss) => void) => () => void

export interface CredentialWatchDeps {
  readonly tokens: Pick<TokenStore, 'findMany'>
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

export interface CredentialWatch {
  readonly watchCredential: WatchCredential
  /** Looks at the watched tokens now instead of within a second. */
  check(): Promise<void>
}

interface Watched {
  readonly listeners: Set<(reason: CredentialLoss) => void>
  /** As first seen; losing one of them counts. */
  scopes: readonly string[] | undefined
}

const POLL_MS = 1_000

/** One query a second over the tokens that hold something open; none while there is none. */
export function createCredentialWatch({ tokens, clock, timers, logger }: CredentialWatchDeps): CredentialWatch {
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
        logger.error('what a lost token held open was not closed', error, { tokenId })
      }
    }
  }

  /** Returns when to look again. Milliseconds. */
  const look = async (): Promise<number> => {
    const entries = [...watched]
    const records = new Map((await tokens.findMany(entries.map(([id]) => id))).map((token) => [token.id, token]))
    const now = clock.now()
    let nextMs = POLL_MS
    for (const [id, entry] of entries) {
      const token = records.get(id)
      const loss = lossOf(token, entry.scopes, now)
      if (loss !== undefined) lose(id, entry, loss)
      entry.scopes ??= token?.scopes
      if (token?.expiresAt !== undefined && token.expiresAt > now) nextMs = Math.min(nextMs, token.expiresAt - now)
    }
    return nextMs
  }

  const check = async () => {
    const mine = ++checks
    cancel()
    if (watched.size === 0) return
    let nextMs = POLL_MS
    try {
      nextMs = await look()
      isFailing = false
    } catch (error) {
      if (!isFailing) logger.error('open streams and sockets not checked for lost tokens', error)
      isFailing = true
    }
    // A later check has its own timer.
    if (mine === checks && watched.size > 0) cancel = timers.after(nextMs, () => void check())
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

const LOSING: ReadonlySet<Write['type']> = new Set(['token.revoke', 'token.retire'])

/** Looks at the watched tokens as soon as a commit that may take one away is durable. */
export function withCredentialCheck(unitOfWork: UnitOfWork, { check }: Pick<CredentialWatch, 'check'>): UnitOfWork {
  return {
    async commit(writes) {
      const outcome = await unitOfWork.commit(writes)
      if (outcome.committed && writes.some(({ type }) => LOSING.has(type))) await check()
      return outcome
    },
  }
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
