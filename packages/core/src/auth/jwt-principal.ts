import { isGrantable, type JwtClaims } from '@perdure/protocol'
import { covers } from './attenuation.ts'
import { isSubjectName, JWT_SUBJECT_PREFIX } from './principal.ts'

/** How the claims of an issuer become a principal. */
export interface JwtMapping {
  readonly id: string
  readonly subject: 'sub' | ((claims: JwtClaims) => string)
  readonly scopes: readonly string[] | { readonly claim: string } | ((claims: JwtClaims) => readonly string[])
  /** The claims that runs can read. */
  readonly claims: readonly string[]
  /** The most that a claim or a function can grant. */
  readonly maxScopes?: readonly string[] | undefined
}

const MAX_SCOPES = 64

/**
 * `jwt:<issuer id>:<name>`; `undefined` if the claims name nobody, or somebody whose name cannot be a subject. An issuer id
 * contains no colon, so no two issuers have a subject in common.
 */
export function subjectOf({ id, subject }: JwtMapping, claims: JwtClaims): string | undefined {
  const name: unknown = subject === 'sub' ? claims.sub : subject(claims)
  if (typeof name !== 'string' || name === '') return undefined
  const full = `${JWT_SUBJECT_PREFIX}${id}:${name}`
  return isSubjectName(full) ? full : undefined
}

/** The scopes of the user. From a claim or a function: those that exist and that `maxScopes` covers. */
export function scopesOf({ scopes, maxScopes = [] }: JwtMapping, claims: JwtClaims): readonly string[] {
  if (isList(scopes)) return scopes
  const asked = listOf(typeof scopes === 'function' ? scopes(claims) : claimAt(claims, scopes.claim))
  const granted = asked.filter((scope) => isGrantable(scope) && covers(maxScopes, scope, true))
  return [...new Set(granted)].slice(0, MAX_SCOPES)
}

const isList = (scopes: JwtMapping['scopes']): scopes is readonly string[] => Array.isArray(scopes)

const claimAt = (claims: JwtClaims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)

/** A list of texts, or one text with the entries separated by spaces, as in RFC 8693. */
function listOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(' ')
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
