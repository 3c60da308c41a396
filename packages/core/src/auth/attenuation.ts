import { AppError, type TokenRecord } from '@perdure/ports'
import { ADMIN_SCOPE, parseScope } from '@perdure/protocol'
import type { Principal } from './principal.ts'

/** What a token is to be allowed, and for whom. */
export type Grant = Pick<TokenRecord, 'scopes' | 'subject'>

/**
 * Whether whoever holds the scopes may already do all that `wanted` allows.
 *
 * @param isSameSubject whether `own` means the same rows for both
 */
export function covers(held: readonly string[], wanted: string, isSameSubject: boolean): boolean {
  if (held.includes(ADMIN_SCOPE)) return true
  if (LITERAL.has(parseScope(wanted)?.resource ?? '')) {
    return held.includes(wanted) || (wanted === 'traces:read:sanitized' && held.includes('traces:read:raw'))
  }
  return held.some((grant) => isWithin(grant, wanted) && (isSameSubject || parseScope(grant)?.id !== 'own'))
}

/**
 * Refuses a grant beyond the principal's own. To speak for another subject is to use its sessions and to see and end its
 * runs, so that takes `sessions:write` and `runs:read` for all of them.
 *
 * @throws AppError `scope-escalation-denied` that names what is missing
 */
export function checkAttenuation({ scopes, subject }: Principal, grant: Grant): void {
  const isSameSubject = grant.subject === subject
  const beyond = grant.scopes.filter((wanted) => !covers(scopes, wanted, isSameSubject))
  if (beyond.length > 0) throw escalation(`the token would hold ${beyond.join(', ')}, which yours does not cover`)
  const missing = isSameSubject ? [] : OF_ALL.filter((scope) => !covers(scopes, scope, true))
  if (missing.length === 0) return
  throw escalation(`to speak for the subject ${grant.subject} your token needs the scope ${missing.join(' and ')}`)
}

const OF_ALL = ['sessions:write', 'runs:read']

export const escalation = (message: string) =>
  new AppError('scope-escalation-denied', { message, hint: 'ask for less, or use a token that may do more' })

function isWithin(grant: string, wanted: string): boolean {
  const wide = parseScope(grant)
  const narrow = parseScope(wanted)
  if (wide === undefined || narrow === undefined || wide.resource !== narrow.resource) return false
  if (wide.action !== '*' && wide.action !== narrow.action) return false
  return wide.id === undefined || wide.id === '*' || wide.id === narrow.id
}

/** Resources whose scopes are matched word for word. */
const LITERAL: ReadonlySet<string> = new Set(['traces', 'admin'])
