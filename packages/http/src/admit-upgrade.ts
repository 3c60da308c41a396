import type { Principal } from '@perdure/core'
import { AppError } from '@perdure/ports'
import type { Exchange } from './exchange.ts'
import type { HttpConfig } from './http-app-deps.ts'
import { isFromOwnSite, isSameOrigin } from './same-origin.ts'
import type { Outgoing } from './text-answer.ts'

/** What is known of an upgrade request that may become a WebSocket. */
export interface AdmittedUpgrade {
  readonly clientAddress: string
  readonly requestId: string
  /** Records who came in, or why nobody did. @throws AppError `audit-unavailable` */
  settle(outcome: UpgradeOutcome): Promise<void>
  /** The answer when it becomes no WebSocket after all. */
  refuse(error: unknown): Promise<Outgoing>
}

export interface UpgradeOutcome {
  readonly principal?: Principal | undefined
  /** Also when the client learns of it by a close code only. */
  readonly error?: AppError | undefined
}

/**
 * A page may open a WebSocket only from the server's own origin or a listed one: no preflight guards an upgrade. Where no
 * credentials are needed, `*` lists nobody, and a browser that names no origin must say that the page is the server's.
 *
 * @throws AppError `cors-denied`, `validation-failed` when the route is no WebSocket
 */
export function admitUpgrade(exchange: Exchange, { allowOrigins, authKind }: HttpConfig): void {
  const { head, route } = exchange
  if (route?.mounted.operation.responses[101] === undefined) {
    throw new AppError('validation-failed', { message: 'this route is no WebSocket', hint: 'leave out Upgrade' })
  }
  const origin = head.header('origin')
  const listsAll = allowOrigins.includes('*') && authKind !== 'none'
  const isAllowed =
    origin === undefined
      ? authKind !== 'none' || isFromOwnSite(head)
      : listsAll || allowOrigins.includes(origin) || isSameOrigin(origin, head.host)
  if (!isAllowed) throw new AppError('cors-denied', { hint: 'add the origin to server.cors.allowOrigins' })
}
