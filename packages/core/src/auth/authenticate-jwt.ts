import {
  type Clock,
  type Digest,
  type JsonText,
  type Logger,
  parseStrictText,
  perdureError,
  utf8Length,
  type VerifyJwt,
} from '@perdure/ports'
import { isPlainObject, type JwtClaims } from '@perdure/protocol'
import { createBoundedMap } from '../collections/bounded-map.ts'
import { factsOf, MAX_CALLER_BYTES, toCallerText } from './caller.ts'
import { formatJwtCredential, type JwtCredential } from './jwt-credential.ts'
import { type JwtMapping, scopesOf, subjectOf } from './jwt-principal.ts'
import type { Principal } from './principal.ts'
import { isJwtRevoked, type SubjectRevocations } from './revoke-subject.ts'

/** An issuer whose JWTs are accepted. */
export interface JwtIssuer extends JwtMapping {
  /** The claim `iss`. */
  readonly issuer: string
  readonly algorithms: readonly string[]
  /** The header `typ`; if missing, any that does not name another purpose. */
  readonly typ?: string | undefined
  readonly maxAgeSeconds?: number | undefined
  readonly clockToleranceSeconds: number
  readonly verify: VerifyJwt
}

export interface AuthenticateJwtDeps {
  readonly issuers: readonly JwtIssuer[]
  readonly clock: Clock
  readonly digest: Pick<Digest, 'sha256'>
  readonly logger: Logger
  readonly subjectRevocations: SubjectRevocations
}

/**
 * Turns a JWT into a principal.
 *
 * @throws PerdureError `auth-invalid`, `auth-expired`, `auth-revoked`, `auth-keys-unavailable`
 */
export type AuthenticateJwt = (jwt: string) => Promise<Principal>

interface Verified extends Pick<JwtCredential, 'issuedAt' | 'expiresAt'> {
  readonly principal: Principal
  readonly verifiedAtMs: number
}

const MAX_JWT_LENGTH = 8_192
const MAX_KID_LENGTH = 256
const MAX_REMEMBERED = 10_000
/** The issuer may withdraw the key of a JWT before the JWT ends. */
const REMEMBERED_MS = 600_000
const RETRY_AFTER_MS = 5_000

const PARTS = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/

/** Whether a credential has the form of a JWT. A token of this server contains no dot. */
export const isJwtForm = (credential: string): boolean => PARTS.test(credential)

/** Headers by which a JWT would choose or bring the key that verifies it, or change how it is read. */
const REFUSED_HEADERS = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'enc']

/**
 * Selects the issuer by the claim `iss`, which decides nothing else before the signature is verified. A verified JWT is
 * remembered under its digest until it expires, for at most ten minutes, so that a page does not pay for a signature with
 * each request. Whether its subject is revoked is checked each time.
 */
export function createAuthenticateJwt(deps: AuthenticateJwtDeps): AuthenticateJwt {
  const { issuers, clock, digest, logger, subjectRevocations } = deps
  const byIssuer = new Map(issuers.map((one) => [one.issuer, one]))
  const verified = createBoundedMap<string, Verified>(MAX_REMEMBERED)
  const failing = new Set<string>()

  const verify = async (jwt: string): Promise<Verified> => {
    const issuer = issuerOf(jwt, byIssuer)
    const verdict = await issuer.verify(jwt, clock.now())
    if (verdict.kind === 'expired') throw perdureError('auth-expired')
    if (verdict.kind === 'invalid') throw refused(`the JWT of the issuer ${issuer.id} is refused: ${verdict.reason}`)
    if (verdict.kind === 'keys-unavailable') {
      if (!failing.has(issuer.id)) logger.error('cannot verify JWTs', verdict.reason, { issuer: issuer.id })
      failing.add(issuer.id)
      throw perdureError('auth-keys-unavailable', { retryAfter: RETRY_AFTER_MS })
    }
    failing.delete(issuer.id)
    return toVerified(issuer, verdict.claims)
  }

  const toVerified = (issuer: JwtIssuer, claims: JwtClaims): Verified => {
    const { subject, scopes } = mapped(issuer, claims)
    const issuedAt = startOf(issuer, claims, clock.now())
    const expiresAt = endOf(issuer, claims)
    const tokenId = formatJwtCredential({ subject, issuedAt, expiresAt })
    const principal = { subject, tokenId, scopes, caller: callerOf(issuer, claims) }
    return { principal, issuedAt, expiresAt, verifiedAtMs: clock.monotonicMs() }
  }

  /** The functions of the configuration may throw. */
  const mapped = (issuer: JwtIssuer, claims: JwtClaims) => {
    try {
      const subject = subjectOf(issuer, claims)
      if (subject !== undefined) return { subject, scopes: scopesOf(issuer, claims) }
    } catch (error) {
      logger.error('a function of auth.jwt failed', error, { issuer: issuer.id })
    }
    throw refused(`the JWT of the issuer ${issuer.id} has no subject that this server can use`)
  }

  const isFresh = ({ expiresAt, verifiedAtMs }: Verified) =>
    expiresAt > clock.now() && clock.monotonicMs() - verifiedAtMs < REMEMBERED_MS

  const read = async (jwt: string): Promise<Verified> => {
    if (jwt.length > MAX_JWT_LENGTH) throw refused(`a JWT may have at most ${MAX_JWT_LENGTH} characters`)
    const name = digest.sha256(jwt)
    const known = verified.get(name)
    if (known !== undefined && isFresh(known)) return known
    if (known !== undefined) verified.delete(name)
    const fresh = await verify(jwt)
    if (fresh.expiresAt <= clock.now()) throw perdureError('auth-expired')
    verified.set(name, fresh)
    return fresh
  }

  return async (jwt) => {
    const { principal, issuedAt } = await read(jwt)
    const { subject } = principal
    if (await isJwtRevoked(subjectRevocations, { subject, issuedAt })) throw perdureError('auth-revoked')
    return principal
  }
}

/** @throws PerdureError `auth-invalid` if there is more than a run can store */
function callerOf({ id, claims: names }: JwtIssuer, claims: JwtClaims): JsonText | undefined {
  const caller = toCallerText(factsOf(claims, names))
  if (caller === undefined || utf8Length(caller) <= MAX_CALLER_BYTES) return caller
  throw refused(
    `the claims ${names.join(', ')} in the JWT of the issuer ${id} have more than ${MAX_CALLER_BYTES} bytes`,
  )
}

/** @throws PerdureError `auth-invalid` if the JWT was issued in the future, where no revocation would reach it */
function startOf({ id, clockToleranceSeconds }: JwtIssuer, { iat }: JwtClaims, now: number): number {
  if (typeof iat !== 'number') return 0
  const issuedAt = Math.max(0, Math.floor(iat * 1_000))
  if (issuedAt > now + clockToleranceSeconds * 1_000)
    throw refused(`the JWT of the issuer ${id} was issued in the future`)
  return Math.min(issuedAt, now)
}

/** `exp`, or the end of `maxAge` if it comes first, plus the tolerance. */
function endOf({ maxAgeSeconds, clockToleranceSeconds }: JwtIssuer, { exp, iat }: JwtClaims): number {
  const ends = [
    typeof exp === 'number' ? exp : 0,
    maxAgeSeconds === undefined || typeof iat !== 'number' ? Number.POSITIVE_INFINITY : iat + maxAgeSeconds,
  ]
  const end = (Math.min(...ends) + clockToleranceSeconds) * 1_000
  return Math.max(0, Math.min(Math.floor(end), MAX_TIME))
}

/** The latest time that a `Date` can hold. */
const MAX_TIME = 8_640_000_000_000_000

/** @throws PerdureError `auth-invalid` */
function issuerOf(jwt: string, issuers: ReadonlyMap<string, JwtIssuer>): JwtIssuer {
  const [, head = '', body = ''] = PARTS.exec(jwt) ?? []
  const header = objectIn(head, 'header')
  const { iss } = objectIn(body, 'claims')
  const issuer = typeof iss === 'string' ? issuers.get(iss) : undefined
  if (issuer === undefined) throw refused('the JWT is from an issuer that this server does not know')
  const { alg, kid } = header
  if (typeof alg !== 'string' || !issuer.algorithms.includes(alg)) {
    throw refused(`the JWT has an algorithm that the issuer ${issuer.id} does not use`)
  }
  const offending = REFUSED_HEADERS.find((name) => Object.hasOwn(header, name))
  if (offending !== undefined) throw refused(`the JWT has the header ${offending}, which this server never accepts`)
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID_LENGTH)) {
    throw refused('the JWT has a kid that cannot be the id of a key')
  }
  if (issuer.typ === undefined && hasOtherPurpose(header.typ)) {
    throw refused(
      `the JWT has a typ of another purpose, which the issuer ${issuer.id} may use only if its typ is configured`,
    )
  }
  return issuer
}

/**
 * Whether a type says that a JWT is not a credential, as `logout+jwt`, `secevent+jwt` or `dpop+jwt` does. Types of access
 * tokens end with `at+jwt`; ID tokens and older access tokens have `JWT` or no type.
 */
const hasOtherPurpose = (typ: unknown): boolean =>
  typ !== undefined && (typeof typ !== 'string' || (/\+jwt$/i.test(typ) && !/\bat\+jwt$/i.test(typ)))

/** Reads a part strictly: two members of one name would mean different things to different readers. */
function objectIn(part: string, what: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseStrictText(fromBase64Url(part))
    if (isPlainObject(value)) return value
  } catch {
    // Refused below.
  }
  throw refused(`the ${what} of the JWT cannot be read`)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function fromBase64Url(part: string): string {
  const binary = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
  return decoder.decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
}

const refused = (message: string) =>
  perdureError('auth-invalid', { message, hint: 'send a JWT that an issuer in auth.jwt has issued for this server' })
