import { couldFollow, type Principal, type Tickets } from '@perdure/core'
import { AppError } from '@perdure/ports'
import { type CloseName, type ErrorCode, TICKET_PREFIX } from '@perdure/protocol'

/** What an upgrade request shows of who asks. */
export interface Shown {
  readonly authorization: string | undefined
  /** The subprotocols that were offered. */
  readonly protocols: readonly string[]
  readonly origin: string | undefined
  readonly clientAddress: string
}

export interface CredentialDeps {
  /** Turns the Authorization header into a principal. @throws AppError */
  readonly authenticate: (authorization: string | undefined, clientAddress: string) => Promise<Principal>
  readonly tickets: Pick<Tickets, 'redeem'>
}

export interface TurnedAway {
  readonly closeAs: CloseName
  readonly error: AppError
  /** Missing where the credential is not good. */
  readonly principal?: Principal
}

export type Admission = { readonly principal: Principal } | TurnedAway

const CLOSES: Partial<Record<ErrorCode, CloseName>> = {
  'auth-required': 'auth.required',
  'auth-invalid': 'auth.invalid',
  'auth-expired': 'auth.invalid',
  'auth-revoked': 'auth.revoked',
}

/**
 * Who asks, or the code with which a socket is closed that may not stay: a browser learns that only after the handshake.
 *
 * @throws AppError what is not about the credential, such as `auth-locked-out`
 */
export async function admit(deps: CredentialDeps, shown: Shown): Promise<Admission> {
  try {
    const principal = await identify(deps, shown)
    if (couldFollow(principal)) return { principal }
    const error = new AppError('scope-denied', { hint: 'no scope of the token allows any subscription' })
    return { closeAs: 'auth.scope_denied', error, principal }
  } catch (error) {
    const closeAs = error instanceof AppError ? CLOSES[error.id] : undefined
    if (closeAs === undefined) throw error
    return { closeAs, error: error as AppError }
  }
}

function identify({ authenticate, tickets }: CredentialDeps, shown: Shown): Promise<Principal> {
  const { authorization, protocols, origin, clientAddress } = shown
  if (authorization !== undefined) return authenticate(authorization, clientAddress)
  const [ticket, ...more] = protocols.filter((protocol) => protocol.startsWith(TICKET_PREFIX))
  if (ticket === undefined) return authenticate(undefined, clientAddress)
  if (more.length > 0) throw new AppError('auth-invalid', { message: 'more than one ticket was offered' })
  return tickets.redeem(ticket.slice(TICKET_PREFIX.length), origin, clientAddress)
}
