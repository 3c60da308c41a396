import { AppError } from '@berth/ports'
import type { Exchange } from './exchange.ts'
import type { HttpConfig } from './http-app-deps.ts'
import { isSameOrigin } from './same-origin.ts'

/** What is known of an upgrade request that may become a WebSocket. */
export interface AdmittedUpgrade {
  readonly clientAddress: string
  readonly requestId: string
}

/**
 * A page may open a WebSocket only from the server's own origin or a listed one: no preflight guards an upgrade. Where no
 * credentials are needed, `*` lists nobody.
 *
 * @throws AppError `cors-denied`, `validation-failed` when the route is no WebSocket
 */
export function admitUpgrade(exchange: Exchange, { allowOrigins, authKind }: HttpConfig): AdmittedUpgrade {
  const { request, url, route, clientAddress, requestId } = exchange
  if (route?.mounted.operation.responses[101] === undefined) {
    throw new AppError('validation-failed', { message: 'this route is no WebSocket', hint: 'leave out Upgrade' })
  }
  const origin = request.headers.get('origin')
  const listsAll = allowOrigins.includes('*') && authKind !== 'none'
  const isAllowed =
    origin === null || listsAll || allowOrigins.includes(origin) || isSameOrigin(origin, hostOf(request, url))
  if (!isAllowed) throw new AppError('cors-denied', { hint: 'add the origin to server.cors.allowOrigins' })
  return { clientAddress, requestId }
}

const hostOf = ({ headers }: Request, { host }: URL) => headers.get('host') ?? host
