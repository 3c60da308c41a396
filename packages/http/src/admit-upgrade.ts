import type { Principal } from '@perdure/core'
import { perdureError, type Refusal } from '@perdure/ports'
import type { Exchange } from './exchange.ts'
import type { HttpConfig } from './http-app-deps.ts'
import { isFromOwnSite, isSameOrigin } from './request/same-origin.ts'
import type { Outgoing } from './response/text-answer.ts'

/** An upgrade request that may become a WebSocket. */
export interface AdmittedUpgrade {
  readonly clientAddress: string
  readonly requestId: string
  readonly operationId: string
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  /** Logs and audits the outcome of the upgrade. @throws PerdureError `audit-unavailable` */
  record(outcome: UpgradeOutcome): Promise<void>
  /** Builds the HTTP error response for a refused upgrade. */
  refuse(error: unknown): Promise<Outgoing>
}

export interface UpgradeOutcome {
  readonly principal?: Principal | undefined
  /** Set even if the client receives only a WebSocket close code. */
  readonly error?: Refusal | undefined
}

/**
 * Checks the Origin header, because upgrades have no preflight: it must be the server's own origin or an allowed
 * origin. If authentication is off, `*` does not make an origin allowed, and a browser request without an Origin header
 * is admitted only if Sec-Fetch-Site does not name another site.
 *
 * @throws PerdureError `cors-denied`; `validation-failed` if the route is not a WebSocket
 */
export function admitUpgrade(exchange: Exchange, { allowOrigins, authKind }: HttpConfig): void {
  const { head, route } = exchange
  if (route?.mounted.operation.responses[101] === undefined) {
    throw perdureError('validation-failed', {
      message: 'this route is not a WebSocket',
      hint: 'remove the Upgrade header',
    })
  }
  const origin = head.header('origin')
  const listsAll = allowOrigins.includes('*') && authKind !== 'none'
  const isAllowed =
    origin === undefined
      ? authKind !== 'none' || isFromOwnSite(head)
      : listsAll || allowOrigins.includes(origin) || isSameOrigin(origin, head.host)
  if (!isAllowed) throw perdureError('cors-denied', { hint: 'add the origin to server.cors.allowOrigins' })
}
