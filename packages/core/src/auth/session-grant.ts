import { parseScope, SCOPES, type ScopeSpec } from '@perdure/protocol'
import { covers, escalationDenied } from './attenuation.ts'
import { HOST_SUBJECT_PREFIX, type Principal } from './principal.ts'

/** What a program with `tokens:mint:sessions` asks for. */
export interface SessionGrant {
  readonly scopes: readonly string[]
  readonly subject?: string | undefined
  readonly expiresAt?: string | undefined // ISO 8601
}

const MAX_LIFETIME_MS = 3_600_000

const OWN_SCOPES: ReadonlySet<string> = new Set(
  Object.entries<ScopeSpec>(SCOPES).flatMap(([scope, { forUsers }]) => (forUsers === true ? `${scope}:own` : [])),
)

/** Whether the caller may create tokens only for its users. */
export const mintsOnlySessions = ({ scopes }: Principal): boolean =>
  covers(scopes, 'tokens:mint:sessions', true) && !covers(scopes, 'tokens:create', true)

/**
 * Returns the subject of a token for a user of the caller. Such a token lasts at most an hour, sees only what its user
 * owns, and runs one agent that the caller may run.
 *
 * @throws PerdureError `scope-escalation-denied`
 */
export function sessionSubject({ scopes: held }: Principal, grant: SessionGrant, now: number): string {
  const { scopes, subject, expiresAt } = grant
  if (subject === undefined) throw refused('a token for a user needs a subject')
  const lifetimeMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now
  if (!(lifetimeMs <= MAX_LIFETIME_MS)) throw refused('a token for a user needs an expiresAt within the next hour')
  const agents = new Set<string>()
  for (const scope of scopes.filter((one) => !OWN_SCOPES.has(one))) {
    const { resource, action, id = '*' } = parseScope(scope) ?? {}
    const isInvocation = resource === 'agents' && action === 'invoke' && id !== '*'
    if (!isInvocation || !covers(held, scope, false)) throw refused(`a token for a user cannot have the scope ${scope}`)
    agents.add(id)
  }
  if (agents.size > 1) throw refused('a token for a user runs one agent')
  return `${HOST_SUBJECT_PREFIX}${subject}`
}

const refused = (message: string) =>
  escalationDenied(
    message,
    `tokens:mint:sessions allows agents:invoke:<id> within your own scopes, and ${[...OWN_SCOPES].join(', ')}`,
  )
