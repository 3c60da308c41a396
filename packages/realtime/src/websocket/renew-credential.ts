import { type CredentialLoss, holderOf, type Principal, type WatchCredential } from '@perdure/core'
import type { Connection } from './connection.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { CredentialDeps } from './credentials.ts'
import type { RenewCredential } from './methods.ts'

export interface RenewCredentialDeps extends Pick<CredentialDeps, 'authenticate'> {
  readonly watchCredential: WatchCredential
  readonly limits: Pick<ConnectionLimits, 'acquire' | 'release'>
  readonly onLost: (connection: Connection, loss: CredentialLoss) => void
}

/**
 * Replaces the credential of an open connection. Subscriptions stay, because what they may send was decided with scopes
 * that the new credential has too.
 */
export function createRenewCredential(deps: RenewCredentialDeps): RenewCredential {
  const { authenticate, watchCredential, limits, onLost } = deps

  return async (connection, token) => {
    const renewed = await authenticate(`Bearer ${token}`, connection.clientAddress)
    const earlier = connection.principal
    if (!connection.isOpen) return { refused: 'protocol-violation', message: 'the connection is closed' }
    if (renewed.subject !== earlier.subject) {
      return { refused: 'auth-invalid', message: 'the credential is of another subject; open another connection' }
    }
    const missing = earlier.scopes.filter((scope) => !renewed.scopes.includes(scope))
    if (missing.length > 0) return { refused: 'scope-denied', message: `the credential lacks the scope ${missing[0]}` }
    exchange(connection, renewed)
    return undefined
  }

  /** The JWTs of a user count as one, so only another token needs room. */
  function exchange(connection: Connection, renewed: Principal): void {
    const { tokenId } = renewed
    const earlierId = connection.principal.tokenId
    if (countedAs(tokenId) !== countedAs(earlierId)) {
      limits.acquire(tokenId)
      limits.release(earlierId)
    }
    connection.unwatchToken?.()
    connection.principal = renewed
    connection.unwatchToken =
      tokenId === undefined ? undefined : watchCredential(tokenId, (loss) => onLost(connection, loss))
  }
}

const countedAs = (tokenId: string | undefined) => (tokenId === undefined ? undefined : holderOf(tokenId))
