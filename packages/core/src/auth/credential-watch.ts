import type { Clock, Logger, Timers, TokenRecord, TokenStore, UnitOfWork, Write } from '@berth/ports'

/** Why a token that opened something may not keep it open. */
export type CredentialLoss = 'revoked' | 'expired' | 'scopes-lost'

/**
 * Calls `onLost` once, when the token is no longer what it was: at once after a revocation by this process, at the moment
 * it expires, and within a second or so after a change by another process on the same file. Returns a function that ends
 * the watch; calling it late or twice is a no-op. A token that was lost before the watch began is found too.
 */
export type WatchCredential = (tokenId: string, onLost: (reason: CredentialLoss) => void) => () => void

export interface CredentialWatchDeps {
  readonly tokens: Pick<TokenStore, 'find'>
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

/** Looks once a second at the tokens that hold something open; at none while there is none. */
export function createCredentialWatch({ tokens, clock, timers, logger }: CredentialWatchDeps): CredentialWatch {
  const watched = new Map<string, Watched>()
  let cancel = () => {}
  let checks = 0

  const lose = (tokenId: string, entry: Watched, reason: CredentialLoss) => {
    if (watched.get(tokenId) !== entry) return
    watched.delete(tokenId)
    for (const onLost of entry.listeners) onLost(reason)
  }

  const look = async () => {
    for (const [id, entry] of [...watched]) {
      const token = await tokens.find(id)
      const loss = lossOf(token, entry.scopes, clock.now())
      if (loss !== undefined) lose(id, entry, loss)
      entry.scopes ??= token?.scopes
    }
  }

  const check = async () => {
    const mine = ++checks
    cancel()
    if (watched.size === 0) return
    await look().catch((error: unknown) => logger.error('open streams and sockets not checked for lost tokens', error))
    // A later check has its own timer.
    if (mine === checks && watched.size > 0) cancel = timers.after(POLL_MS, () => void check())
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

const LOSING: ReadonlySet<Write['type']> = new Set(['token.revoke'])

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
