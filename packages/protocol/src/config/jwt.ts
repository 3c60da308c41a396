import * as v from 'valibot'
import { strictObject } from '../plain-object.ts'
import { isGrantable } from '../scopes.ts'
import { SecretReference, secondsFrom } from './values.ts'

/** The claims of a JWT whose signature has been verified. */
export type JwtClaims = Readonly<Record<string, unknown>>

const SYMMETRIC = ['HS256', 'HS384', 'HS512'] as const
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const

/** The signature algorithms that an issuer can use. `none` is not one of them. */
export const JWT_ALGORITHMS: readonly string[] = [...SYMMETRIC, ...ASYMMETRIC]

export const isSymmetric = (algorithm: string): boolean => SYMMETRIC.some((one) => one === algorithm)

const text = (maxLength: number) =>
  v.pipe(
    v.string('must be a text'),
    v.minLength(1, 'must be a text that is not empty'),
    v.maxLength(maxLength, `must be a text of at most ${maxLength} characters`),
  )

const listOf = <Item extends v.GenericSchema>(item: Item, what: string) =>
  v.pipe(v.array(item, `must be a list of ${what}`), v.minLength(1, `must be a list of at least one of the ${what}`))

const functionOfClaims = <Result>() =>
  v.custom<(claims: JwtClaims) => Result>((value) => typeof value === 'function', 'must be a function of the claims')

const scope = v.pipe(v.string(), v.check(isGrantable, 'must be a scope of the scopes reference'))

/** Nobody on the network may replace the keys; credentials and fragments have no meaning here. */
export const KEY_SET_URL =
  /^(?:https:\/\/[^\s/?#@\\]+|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?)(?:[/?][^\s#@\\]*)?$/

const Keys = v.union(
  [
    strictObject({ secretRef: SecretReference }),
    strictObject({
      jwksUrl: v.pipe(
        v.string(),
        v.regex(KEY_SET_URL, 'must be an https: URL without credentials; http: is allowed only for a loopback host'),
      ),
    }),
  ],
  'must be either { secretRef } or { jwksUrl }',
)

const MAX_CLOCK_TOLERANCE_SECONDS = 60
const MAX_CLAIMS = 32

const Issuer = strictObject({
  /** The part of the subjects that tells this issuer from others: `jwt:<id>:<sub>`. Permanent. */
  id: v.pipe(
    v.string('must be a text'),
    v.regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits and hyphens, with a letter first'),
  ),
  /** The claim `iss`, compared character by character. */
  issuer: text(512),
  /** The claim `aud` must contain this text, or one of these. */
  audience: v.union([text(512), listOf(text(512), 'audiences')], 'must be an audience or a list of audiences'),
  /** `secretRef`: the HMAC secret, or the public key as PEM, JWK or JWK Set. `jwksUrl`: where the issuer publishes its keys. */
  keys: Keys,
  algorithms: listOf(
    v.picklist(JWT_ALGORITHMS, `must be one of ${JWT_ALGORITHMS.join(', ')}; none is never accepted`),
    'algorithms',
  ),
  /** The name of the user at the issuer. Default: the claim `sub`. */
  subject: v.optional(
    v.union([v.literal('sub'), functionOfClaims<string>()], "must be 'sub' or a function of the claims"),
    'sub',
  ),
  /** The scopes of every user, the claim that has them, or a function that returns them. */
  scopes: v.union(
    [v.array(scope), strictObject({ claim: text(256) }), functionOfClaims<readonly string[]>()],
    'must be a list of scopes, { claim }, or a function of the claims',
  ),
  /** The most that a claim or a function can grant. */
  maxScopes: v.optional(v.array(scope, 'must be a list of scopes')),
  /** The claims that the code of runs may read as `ctx.caller.claims`. */
  claims: v.optional(
    v.pipe(v.array(text(128)), v.maxLength(MAX_CLAIMS, `must be a list of at most ${MAX_CLAIMS} claims`)),
    [],
  ),
  /** The header `typ`, if it is checked, such as `at+jwt`. */
  typ: v.optional(text(64)),
  /** The longest time since the claim `iat`. */
  maxAge: v.optional(secondsFrom(1)),
  /** How far the clock of the issuer may be off. */
  clockTolerance: v.optional(
    v.pipe(secondsFrom(0), v.maxValue(MAX_CLOCK_TOLERANCE_SECONDS, 'must be at most 60 seconds')),
    5,
  ),
})

type IssuerFields = v.InferOutput<typeof Issuer>

const areOfOneKind = ({ algorithms }: IssuerFields) => algorithms.every(isSymmetric) || !algorithms.some(isSymmetric)
const hasSecretForHmac = ({ algorithms, keys }: IssuerFields) => !algorithms.some(isSymmetric) || 'secretRef' in keys
const hasCeiling = ({ scopes, maxScopes }: IssuerFields) => Array.isArray(scopes) || maxScopes !== undefined

/** An issuer whose JWTs authenticate requests. Everything that decides about a JWT is stated here, not in the JWT. */
export const JwtIssuer = v.pipe(
  Issuer,
  v.forward(
    v.check(
      areOfOneKind,
      'must be either only HS… algorithms or none of them: a public key must never become an HMAC secret',
    ),
    ['algorithms'],
  ),
  v.forward(
    v.check(hasSecretForHmac, 'must be { secretRef } with an HS… algorithm: a shared secret is not published'),
    ['keys'],
  ),
  v.forward(v.check(hasCeiling, 'must be set when scopes is { claim } or a function: the most that it can grant'), [
    'maxScopes',
  ]),
)
export type JwtIssuer = v.InferOutput<typeof JwtIssuer>

const areUnique = (key: 'id' | 'issuer') => (issuers: JwtIssuer[]) =>
  new Set(issuers.map((one) => one[key])).size === issuers.length

/** The issuers of a server. */
export const JwtIssuers = v.pipe(
  v.array(JwtIssuer),
  v.check(areUnique('id'), 'must be issuers with different ids'),
  v.check(areUnique('issuer'), 'must be issuers with different values of issuer'),
)
