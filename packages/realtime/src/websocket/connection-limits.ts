import { holderOf } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import type { WebSocketLimits } from './web-socket-limits.ts'

/** Enforces the connection limits of the server and of each token; the JWTs of a user count as one token. */
export interface ConnectionLimits {
  /** Reserves a connection while the credential is being verified. @throws PerdureError `overloaded` */
  reserve(): void
  cancelReservation(): void
  /** Counts an opened connection. @throws PerdureError `overloaded` */
  acquire(tokenId: string | undefined): void
  release(tokenId: string | undefined): void
}

const RETRY_AFTER_MS = 1_000

export function createConnectionLimits({
  maxConnections,
  maxConnectionsPerToken,
}: Pick<WebSocketLimits, 'maxConnections' | 'maxConnectionsPerToken'>): ConnectionLimits {
  const byToken = new Map<string, number>()
  let acquired = 0
  let reserved = 0

  return {
    reserve() {
      if (acquired + reserved >= maxConnections)
        throw limitReached(`the server has reached its limit of ${maxConnections} WebSockets`)
      reserved++
    },
    cancelReservation() {
      reserved--
    },
    acquire(tokenId) {
      const holder = tokenId === undefined ? undefined : holderOf(tokenId)
      const count = holder === undefined ? 0 : (byToken.get(holder) ?? 0)
      if (count >= maxConnectionsPerToken)
        throw limitReached(`the token has reached its limit of ${maxConnectionsPerToken} WebSockets`)
      if (holder !== undefined) byToken.set(holder, count + 1)
      acquired++
    },
    release(tokenId) {
      acquired--
      if (tokenId === undefined) return
      const holder = holderOf(tokenId)
      const left = (byToken.get(holder) ?? 1) - 1
      if (left === 0) byToken.delete(holder)
      else byToken.set(holder, left)
    },
  }
}

const limitReached = (message: string) =>
  perdureError('overloaded', { message, hint: 'close another WebSocket or retry later', retryAfter: RETRY_AFTER_MS })
