import type { Clock, TokenRecord, TokenStore, WebhookRecord } from '@perdure/ports'
import { OWNED_RESOURCES, scopesOfEvents } from '@perdure/protocol'
import { covers, escalationDenied } from '../auth/attenuation.ts'
import { createCurrentTokens } from '../auth/current-token.ts'
import type { Principal } from '../auth/principal.ts'

/** What decides which events a webhook receives. */
type Selection = Pick<WebhookRecord, 'events' | 'owner'>

/** The scopes of a subject, without which it may not read everything that the webhook sends. */
function missingScopes({ events, owner }: Selection, { scopes, subject }: Pick<Principal, 'scopes' | 'subject'>) {
  const wanted = scopesOfEvents(events).map((scope) => {
    const [resource = ''] = scope.split(':')
    return owner === subject && OWNED_RESOURCES.has(resource) ? `${scope}:own` : scope
  })
  return wanted.filter((scope) => !covers(scopes, scope, true))
}

/**
 * Refuses a webhook that would send what the caller may not read.
 *
 * @throws PerdureError `scope-escalation-denied`
 */
export function checkWebhookRights(principal: Principal, selection: Selection): void {
  const missing = missingScopes(selection, principal)
  if (missing.length === 0) return
  const message = `the webhook would send what your token may not read: it lacks the scope ${missing.join(' and ')}`
  throw escalationDenied(message, 'select fewer events, or use a token with more scopes')
}

export interface WebhookRightsDeps {
  readonly tokens: Pick<TokenStore, 'find' | 'findMany'>
  readonly clock: Clock
}

/** Why webhooks may no longer send what they select, by their ids; those that still may are missing. */
export type LostRights = (webhooks: readonly WebhookRecord[]) => Promise<ReadonlyMap<string, string>>

/** A webhook has the rights of the token that created it, as long as that token or one that replaced it has them. */
export function createLostRights({ tokens, clock }: WebhookRightsDeps): LostRights {
  const currentTokens = createCurrentTokens(tokens)

  const reasonOf = (webhook: WebhookRecord, id: string, token: TokenRecord | undefined): string | undefined => {
    if (token === undefined) return `its token ${id} no longer exists`
    if (token.revokedAt !== undefined) return `its token ${token.id} was revoked`
    if (token.expiresAt !== undefined && token.expiresAt <= clock.now()) return `its token ${token.id} has expired`
    const missing = missingScopes(webhook, token)
    return missing.length === 0 ? undefined : `its token ${token.id} lacks the scope ${missing.join(' and ')}`
  }

  return async (webhooks) => {
    const lost = new Map<string, string>()
    const bound = webhooks.flatMap((webhook) => {
      const { createdByToken: token, source } = webhook
      return token === undefined || source === 'code' ? [] : [{ webhook, token }]
    })
    if (bound.length === 0) return lost
    const current = await currentTokens([...new Set(bound.map(({ token }) => token))])
    for (const { webhook, token } of bound) {
      const reason = reasonOf(webhook, token, current.get(token))
      if (reason !== undefined) lost.set(webhook.id, reason)
    }
    return lost
  }
}
