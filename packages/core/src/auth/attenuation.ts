import { perdureError, type TokenRecord } from '@perdure/ports'
import { ADMIN_SCOPE, parseScope } from '@perdure/protocol'
import type { Principal } from './principal.ts'

/** The scopes and subject of a token to be created. */
export type Grant = Pick<TokenRecord, 'scopes' | 'subject'>

/**
 * Whether the held scopes already allow everything that `wanted` allows.
 *
 * @param isSameSubject whether `own` refers to the same rows for both tokens
 */
export function covers(held: readonly string[], wanted: string, isSameSubject: boolean): boolean {
  if (held.includes(ADMIN_SCOPE)) return true
  if (LITERAL_RESOURCES.has(parseScope(wanted)?.resource ?? '')) {
    return held.includes(wanted) || (wanted === 'traces:read:sanitized' && held.includes('traces:read:raw'))
  }
  return held.some((grant) => isWithin(grant, wanted) && (isSameSubject || parseScope(grant)?.id !== 'own'))
}

/**
 * Rejects a grant that exceeds the principal's own scopes. A token for another subject can use that subject's sessions,
 * and read and end that subject's runs. Creating such a token therefore also requires `sessions:write` and `runs:read`
 * without restriction.
 *
 * @throws PerdureError `scope-escalation-denied` that names the missing scopes
 */
export function checkAttenuation({ scopes, subject }: Principal, grant: Grant): void {
  const isSameSubject = grant.subject === subject
  const uncovered = grant.scopes.filter((wanted) => !covers(scopes, wanted, isSameSubject))
  if (uncovered.length > 0)
    throw escalationDenied(`your token does not cover the requested scope ${uncovered.join(', ')}`)
  const missing = isSameSubject ? [] : ANOTHER_SUBJECT_SCOPES.filter((scope) => !covers(scopes, scope, true))
  if (missing.length === 0) return
  throw escalationDenied(`a token for the subject ${grant.subject} requires the scope ${missing.join(' and ')}`)
}

/** Scopes that a caller needs to create a token for another subject. */
const ANOTHER_SUBJECT_SCOPES = ['sessions:write', 'runs:read']

export const escalationDenied = (message: string, hint = 'request fewer rights, or use a token with more scopes') =>
  perdureError('scope-escalation-denied', { message, hint })

function isWithin(grant: string, wanted: string): boolean {
  const wide = parseScope(grant)
  const narrow = parseScope(wanted)
  if (wide === undefined || narrow === undefined || wide.resource !== narrow.resource) return false
  if (wide.action !== '*' && wide.action !== narrow.action) return false
  return wide.id === undefined || wide.id === '*' || wide.id === narrow.id
}

/** Resources whose scopes match only if the whole strings are equal. */
const LITERAL_RESOURCES: ReadonlySet<string> = new Set(['traces', 'admin'])
