import {
  type EpochMs,
  type Logger,
  perdureError,
  plusMs,
  type Refusal,
  type RequestOrigin,
  type SignInCheck,
  type SignInProvider,
  type SignInVerdict,
} from '@perdure/ports'
import type { JwtClaims } from '@perdure/protocol'
import { base64Url } from '../auth/base64-url.ts'
import type { AttemptLimiter } from '../auth/lockout.ts'
import { isSubjectName, OIDC_SUBJECT_PREFIX } from '../auth/principal.ts'
import { isJwtRevoked, type SubjectRevocations } from '../auth/revoke-subject.ts'
import { type OpenSessionDeps, openSession, type SignedIn } from './console-session.ts'

export interface ProviderSignInDeps extends OpenSessionDeps {
  /** Missing if users sign in only with tokens and codes. */
  readonly provider?: SignInProvider | undefined
  readonly rules: ProviderRules
  readonly attempts: AttemptLimiter
  readonly subjectRevocations: SubjectRevocations
  readonly logger: Logger
}

/** How the users of a provider become users of the console. */
export interface ProviderRules {
  readonly id: string
  readonly claim: string
  /** The scopes of each role. */
  readonly roles?: Readonly<Record<string, readonly string[]>> | undefined
  readonly sessionSeconds: number
}

export interface StartedSignIn {
  /** Where the browser continues. */
  readonly url: string
  /** A secret that stays in the browser, and without which nobody can end this sign-in. */
  readonly secret: string
  readonly maxAgeSeconds: number
}

export interface ProviderAnswer {
  /** The query with which the provider has sent the browser back. */
  readonly query: URLSearchParams
  /** The secret of `StartedSignIn`; `undefined` if the browser has not sent it. */
  readonly secret: string | undefined
  readonly clientAddress: string
  readonly origin: RequestOrigin
}

/** Signs users of an OpenID Connect provider in to the console. */
export interface ProviderSignIn {
  readonly isEnabled: boolean
  /** @throws PerdureError `route-not-found`, `sign-in-unavailable`, `auth-locked-out` */
  begin(clientAddress: string): Promise<StartedSignIn>
  /**
   * @throws PerdureError `auth-invalid`, `auth-revoked`, `auth-locked-out`, `scope-denied`, `sign-in-unavailable`,
   *   `audit-unavailable`, `route-not-found`
   */
  finish(answer: ProviderAnswer): Promise<SignedIn>
  /** The URL at which the provider ends its own session, if it has one. */
  endSessionUrl(): Promise<string | undefined>
}

const SECRET_BYTES = 32
const SIGN_IN_MS = 600_000
/** Sign-ins that wait for the provider at the same time. */
const MAX_WAITING = 32
const RETRY_AFTER_MS = 5_000

const SECRET = /^(\d{1,15})\.([A-Za-z0-9_-]{43})$/

/**
 * State, nonce and code verifier are hashes of the secret, so any server of a cluster can end a sign-in that another one has
 * begun, and nothing is stored. The state in the address does not reveal the secret.
 */
export function createProviderSignIn(deps: ProviderSignInDeps): ProviderSignIn {
  const { provider, rules, clock, digest, ids, attempts, logger, subjectRevocations } = deps
  let waiting = 0

  const checkOf = (secret: string): SignInCheck => ({
    state: digest.sha256(`sign-in-state:${secret}`),
    nonce: digest.sha256(`sign-in-nonce:${secret}`),
    codeVerifier: digest.sha256(`sign-in-verifier:${secret}`),
  })

  const limited = async <T>(work: (provider: SignInProvider) => Promise<T>): Promise<T> => {
    if (provider === undefined) throw perdureError('route-not-found')
    if (waiting >= MAX_WAITING) throw unavailable('too many people are signing in at the moment')
    waiting++
    try {
      return await work(provider)
    } finally {
      waiting--
    }
  }

  /** Throws unless this browser has begun the sign-in with this state, and not too long ago. */
  const checkBrowser = ({ query, secret, clientAddress }: ProviderAnswer): SignInCheck => {
    const begun = SECRET.exec(secret ?? '')
    const age = clock.now() - Number(begun?.[1] ?? Number.NEGATIVE_INFINITY)
    const isOpen = age >= 0 && age <= SIGN_IN_MS
    if (secret === undefined || !isOpen) {
      throw refused('this browser has not begun a sign-in in the last 10 minutes')
    }
    const check = checkOf(secret)
    const states = query.getAll('state')
    if (states.length === 1 && digest.equals(check.state, states[0] ?? '')) return check
    attempts.recordRefusal(clientAddress)
    throw refused('the answer of the provider belongs to another sign-in')
  }

  const openFor = async (
    { name, issuedAt, claims }: Extract<SignInVerdict, { kind: 'identified' }>,
    origin: RequestOrigin,
  ): Promise<SignedIn> => {
    const subject = `${OIDC_SUBJECT_PREFIX}${rules.id}:${name}`
    if (name === '' || !isSubjectName(subject))
      throw refused('the provider has sent a name that this server cannot use')
    if (rules.claim === 'email' && claims.email_verified !== true) {
      throw perdureError('scope-denied', {
        message: 'the provider has not verified your e-mail address (claim email_verified)',
        hint: 'verify the address at the provider, then sign in again',
      })
    }
    const scopes = scopesOf(rules, claims)
    if (scopes.length === 0) {
      throw perdureError('scope-denied', {
        message: `your account has no role that may use this console (claim ${rules.claim})`,
        hint: 'ask the administrator of the provider for a role that console.oidc.roles names',
      })
    }
    if (await isJwtRevoked(subjectRevocations, { subject, issuedAt })) throw perdureError('auth-revoked')
    const expiresAt = plusMs(clock.now(), rules.sessionSeconds * 1_000) as EpochMs
    return openSession(deps, { principal: { subject, scopes, origin }, scopes, expiresAt })
  }

  return {
    isEnabled: provider !== undefined,
    begin: (clientAddress) =>
      limited(async ({ begin }) => {
        attempts.admit(clientAddress)
        const secret = `${clock.now()}.${base64Url(ids.randomBytes(SECRET_BYTES))}`
        const outcome = await begin(checkOf(secret))
        if (outcome.kind === 'started') return { url: outcome.url, secret, maxAgeSeconds: SIGN_IN_MS / 1_000 }
        logger.error('cannot begin a sign-in to the console', outcome.reason)
        throw unavailable('the identity provider cannot be reached')
      }),

    finish: (answer) =>
      limited(async ({ finish }) => {
        const { clientAddress, origin, query } = answer
        attempts.admit(clientAddress)
        const check = checkBrowser(answer)
        const verdict = await finish(query, check)
        if (verdict.kind === 'identified') return openFor(verdict, origin)
        if (verdict.kind === 'unavailable') {
          logger.error('cannot finish a sign-in to the console', verdict.reason)
          throw unavailable('the identity provider cannot be reached')
        }
        logger.warn('a sign-in to the console was refused', { reason: verdict.reason })
        if (query.get('error') === 'access_denied') throw refused('the sign-in was cancelled or denied at the provider')
        attempts.recordRefusal(clientAddress)
        throw refused('the answer of the provider is not valid for this sign-in')
      }),

    endSessionUrl: async () => provider?.endSessionUrl(),
  }
}

/** The scopes of all roles of the user that the configuration names. */
function scopesOf({ claim, roles = {} }: ProviderRules, claims: JwtClaims): readonly string[] {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  const held = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
  const granted = Object.entries(roles).flatMap(([role, scopes]) => (held.includes(role) ? scopes : []))
  return [...new Set(granted)]
}

const refused = (message: string): Refusal =>
  perdureError('auth-invalid', { message, hint: 'start the sign-in again from the console' })

const unavailable = (message: string): Refusal =>
  perdureError('sign-in-unavailable', {
    message,
    hint: 'try again in a moment, or sign in with a token',
    retryAfter: RETRY_AFTER_MS,
  })
