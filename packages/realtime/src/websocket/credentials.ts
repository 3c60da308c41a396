import type { CredentialLoss, Principal, Tickets } from '@perdure/core'
import { isRefusal, perdureError, type Refusal } from '@perdure/ports'
import { type CloseName, type ErrorCode, TICKET_PREFIX } from '@perdure/protocol'

/** The credentials of an upgrade request. */
export interface PresentedCredentials {
  readonly authorization: string | undefined
  /** Offered subprotocols. A client sends its ticket as one of them. */
  readonly protocols: readonly string[]
  readonly origin: string | undefined
  readonly clientAddress: string
}

export interface CredentialDeps {
  /** Authenticates the Authorization header. @throws PerdureError */
  readonly authenticate: (authorization: string | undefined, clientAddress: string) => Promise<Principal>
  readonly tickets: Pick<Tickets, 'redeem'>
}

export interface RefusedUpgrade {
  readonly closeAs: CloseName
  readonly error: Refusal
  /** Missing if the credential is invalid. */
  readonly principal?: Principal
}

export type Admission = { readonly principal: Principal } | RefusedUpgrade

/** Why a connection is closed whose credential has become invalid. */
export const CLOSE_NAMES: Readonly<Record<CredentialLoss, CloseName>> = {
  revoked: 'auth.revoked',
  expired: 'auth.invalid',
  'scopes-lost': 'auth.scope_denied',
}

const REFUSED_AS: Partial<Record<ErrorCode, CloseName>> = {
  'auth-required': 'auth.required',
  'auth-invalid': 'auth.invalid',
  'auth-expired': 'auth.invalid',
  'auth-revoked': 'auth.revoked',
}

/**
 * Authenticates an upgrade. A rejected credential yields a close code rather than an HTTP error, because a page can
 * read the close code of a WebSocket but not the HTTP error of a failed handshake.
 *
 * @param isAllowed whether the scopes of the principal allow what the WebSocket is for
 * @throws PerdureError for any other refusal, such as `auth-locked-out`
 */
export async function admit(
  deps: CredentialDeps,
  shown: PresentedCredentials,
  isAllowed: (principal: Principal) => boolean,
): Promise<Admission> {
  try {
    const principal = await identify(deps, shown)
    if (isAllowed(principal)) return { principal }
    const error = perdureError('scope-denied', { hint: SCOPE_HINT })
    return { closeAs: 'auth.scope_denied', error, principal }
  } catch (error) {
    const closeAs = isRefusal(error) ? REFUSED_AS[error.code] : undefined
    if (closeAs === undefined) throw error
    return { closeAs, error: error as Refusal }
  }
}

const SCOPE_HINT =
  'use a token with a scope that allows what the WebSocket is for, such as agents:read to subscribe or agents:invoke:* to chat'

function identify({ authenticate, tickets }: CredentialDeps, shown: PresentedCredentials): Promise<Principal> {
  const { authorization, protocols, origin, clientAddress } = shown
  if (authorization !== undefined) return authenticate(authorization, clientAddress)
  const [ticket, ...more] = protocols.filter((protocol) => protocol.startsWith(TICKET_PREFIX))
  if (ticket === undefined) return authenticate(undefined, clientAddress)
  if (more.length > 0) throw perdureError('auth-invalid', { message: 'more than one ticket was offered' })
  return tickets.redeem(ticket.slice(TICKET_PREFIX.length), origin, clientAddress)
}
