import { AppError } from '@perdure/ports'
import type { WebSocketLimits } from './web-socket-limits.ts'

/** Counts who has and who is about to have a connection. */
export interface Seats {
  /** Holds a place for somebody whose credential is being looked at. @throws AppError `overloaded` */
  wait(): void
  /** Ends a wait. */
  leave(): void
  /** Gives a connection of a token its place. @throws AppError `overloaded` */
  take(tokenId: string | undefined): void
  /** Gives back what was taken. */
  release(tokenId: string | undefined): void
}

const RETRY_AFTER_MS = 1_000

export function createSeats({
  maxConnections,
  maxConnectionsPerToken,
}: Pick<WebSocketLimits, 'maxConnections' | 'maxConnectionsPerToken'>): Seats {
  const byToken = new Map<string, number>()
  let taken = 0
  let waiting = 0

  return {
    wait() {
      if (taken + waiting >= maxConnections) throw full('the server has as many WebSockets as it may have')
      waiting++
    },
    leave() {
      waiting--
    },
    take(tokenId) {
      const count = tokenId === undefined ? 0 : (byToken.get(tokenId) ?? 0)
      if (count >= maxConnectionsPerToken) throw full('the token has as many WebSockets as it may have')
      if (tokenId !== undefined) byToken.set(tokenId, count + 1)
      taken++
    },
    release(tokenId) {
      taken--
      if (tokenId === undefined) return
      const left = (byToken.get(tokenId) ?? 1) - 1
      if (left === 0) byToken.delete(tokenId)
      else byToken.set(tokenId, left)
    },
  }
}

const full = (message: string) =>
  new AppError('overloaded', { message, hint: 'close one, or try again later', retryAfterMs: RETRY_AFTER_MS })
