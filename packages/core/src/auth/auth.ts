import type { Logger, Sealer, Timers, TokenStore, UnitOfWork } from '@perdure/ports'
import { type Authenticate, authenticateAnyone, createAuthenticate } from './authenticate.ts'
import { createCredentialWatch, type WatchCredential, withCredentialCheck } from './credential-watch.ts'
import { type CsrfTokens, createCsrfTokens } from './csrf-tokens.ts'
import { type Attempts, createAttempts, createLockout, LOCKOUT, NO_ATTEMPTS, withAttempts } from './lockout.ts'
import type { NewTokenDeps } from './new-token.ts'
import { createTokenUseCases, type TokenUseCases } from './token-use-cases.ts'

export interface AuthDeps extends NewTokenDeps {
  readonly kind: 'token' | 'none'
  /** Whether a locked-out address is refused even with a valid token. */
  readonly blockValid: boolean
  readonly tokens: TokenStore
  readonly unitOfWork: UnitOfWork
  readonly timers: Timers
  readonly logger: Logger
  readonly sealer: Sealer
  readonly basePath: string
  readonly idempotencyTtlMs: number
}

export interface Auth {
  readonly authenticate: Authenticate
  /** For whoever looks at credentials of another kind. */
  readonly attempts: Attempts
  readonly watchCredential: WatchCredential
  readonly csrfTokens: CsrfTokens
  readonly tokens: TokenUseCases
}

/** Who asks, what holds their streams open, and what they may do to tokens. */
export function createAuth(deps: AuthDeps): Auth {
  const { kind, blockValid, peppers, clock, digest, ids } = deps
  const watch = createCredentialWatch(deps)
  const unitOfWork = withCredentialCheck(deps.unitOfWork, watch)
  const attempts = kind === 'none' ? NO_ATTEMPTS : createAttempts(createLockout(clock, LOCKOUT), blockValid)
  // Without a pepper the values hold for the life of the process.
  const [secret = ids.randomBytes(32)] = peppers
  return {
    authenticate: kind === 'none' ? authenticateAnyone : withAttempts(createAuthenticate(deps), attempts),
    attempts,
    watchCredential: watch.watchCredential,
    csrfTokens: createCsrfTokens({ digest, ids, key: digest.deriveKey(secret, 'perdure/csrf/v1') }),
    tokens: createTokenUseCases({ ...deps, unitOfWork }),
  }
}
