import type { Clock, Logger, Timers, TokenRecord, TokenStore, UnitOfWork, Write } from '@perdure/ports'

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

const POLL_MS = 1_000

/** Runs one query per second for all watched tokens, and none while no token is watched. */
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
        logger.error('cannot close a stream or socket whose token became invalid', error, { tokenId })
      }
    }
  }

  /** Returns the delay until the next check, in milliseconds. */
  const checkAll = async (): Promise<number> => {
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

const REVOKING_WRITES: ReadonlySet<Write['type']> = new Set(['token.revoke', 'token.retire'])

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

function lossOf(
  token: TokenRecord | undefined,
  held: readonly string[] | undefined,
  now: number,
): CredentialLoss | undefined {
  if (token === undefined || token.revokedAt !== undefined) return 'revoked'
  if (token.expiresAt !== undefined && token.expiresAt <= now) return 'expired'
  return held?.some((scope) => !token.scopes.includes(scope)) ? 'scopes-lost' : undefined
}
