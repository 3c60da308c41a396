import type {
  LockoutStore,
  Logger,
  Sealer,
  SubjectRevocationStore,
  Timers,
  TokenStore,
  UnitOfWork,
  WebhookStore,
} from '@perdure/ports'
import type { Daemon } from '../lifecycle/daemon.ts'
import { type Authenticate, authenticateAnyone, createAuthenticate } from './authenticate.ts'
import { createAuthenticateJwt, type JwtIssuer } from './authenticate-jwt.ts'
import { type CookieTags, createCookieTags } from './cookie-tags.ts'
import { createCredentialWatch, type WatchCredential, withCredentialCheck } from './credential-watch.ts'
import { type CsrfTokens, createCsrfTokens } from './csrf-tokens.ts'
import { createIssueToken, type IssueToken } from './issue-token.ts'
import {
  type AttemptLimiter,
  createAttemptLimiter,
  createLockout,
  LOCKOUT,
  NO_ATTEMPT_LIMIT,
  withAttemptLimit,
} from './lockout.ts'
import type { NewTokenDeps } from './new-token.ts'
import { createRevokeSubject, type RevokeSubject } from './revoke-subject.ts'
import type { IsRegistered } from './scope-warnings.ts'
import { createSharedLockout } from './shared-lockout.ts'
import { createTokenUseCases, type TokenUseCases } from './token-use-cases.ts'

export interface AuthDeps extends NewTokenDeps {
  readonly kind: 'token' | 'none'
  /** Whether requests from a locked-out address are refused even with a valid token. */
  readonly blockValid: boolean
  readonly tokens: TokenStore
  readonly subjectRevocations: SubjectRevocationStore
  readonly webhooks: Pick<WebhookStore, 'list'>
  readonly unitOfWork: UnitOfWork
  readonly timers: Timers
  readonly logger: Logger
  readonly sealer: Sealer
  readonly basePath: string
  readonly idempotencyTtlMs: number
  readonly isRegistered: IsRegistered
  /** Counts failed attempts together with other processes; if missing, this process counts alone. */
  readonly lockoutStore?: LockoutStore | undefined
  /** Issuers whose JWTs are accepted besides tokens. */
  readonly jwtIssuers?: readonly JwtIssuer[] | undefined
}

export interface Auth {
  readonly authenticate: Authenticate
  /** Also used by code that checks other kinds of credentials, such as tickets. */
  readonly attempts: AttemptLimiter
  readonly watchCredential: WatchCredential
  /** Checks the watched tokens now; call it when another process has revoked a token. */
  readonly checkCredentials: () => Promise<void>
  readonly csrfTokens: CsrfTokens
  readonly cookieTags: CookieTags
  readonly tokens: TokenUseCases
  readonly revokeSubject: RevokeSubject
  /** For the program that embeds the server. */
  readonly issueToken: IssueToken
  /** Exchanges failed attempts with other processes. */
  readonly lockoutDaemon: Daemon | undefined
}

/** Wires authentication, credential watching and token management. */
export function createAuth(deps: AuthDeps): Auth {
  const { kind, blockValid, peppers, clock, digest, ids, jwtIssuers: issuers = [] } = deps
  const watch = createCredentialWatch(deps)
  const unitOfWork = withCredentialCheck(deps.unitOfWork, watch)
  const shared = deps.lockoutStore && createSharedLockout({ ...deps, store: deps.lockoutStore }, LOCKOUT)
  const lockout = shared?.lockout ?? createLockout(clock.monotonicMs, LOCKOUT)
  const attempts = kind === 'none' ? NO_ATTEMPT_LIMIT : createAttemptLimiter(lockout, blockValid)
  const authenticateJwt = issuers.length === 0 ? undefined : createAuthenticateJwt({ ...deps, issuers })
  // Without a pepper, CSRF tokens and cookies are valid until the process exits.
  const [secret = ids.randomBytes(32), ...previousSecrets] = peppers
  return {
    authenticate:
      kind === 'none'
        ? authenticateAnyone
        : withAttemptLimit(createAuthenticate({ ...deps, authenticateJwt }), attempts),
    attempts,
    watchCredential: watch.watchCredential,
    checkCredentials: watch.check,
    csrfTokens: createCsrfTokens({ digest, ids, key: digest.deriveKey(secret, 'perdure/csrf/v1') }),
    cookieTags: createCookieTags({ digest, secret, previousSecrets }),
    lockoutDaemon: shared?.daemon,
    tokens: createTokenUseCases({ ...deps, unitOfWork }),
    revokeSubject: createRevokeSubject({ ...deps, unitOfWork }),
    issueToken: createIssueToken(deps),
  }
}
