import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpApp } from '@perdure/http'
import { isRefusal, type Logger, perdureError } from '@perdure/ports'
import type { IncomingUpgrade, SocketServer, UpgradeSocket } from '@perdure/realtime'
import { destroyOnError } from './destroy-on-error.ts'
import { toHttpRequest } from './incoming-request.ts'
import { refuseOnSocket, sendOnSocket } from './refuse.ts'
import { unreadable } from './unreadable-request.ts'

export interface UpgradesDeps {
  readonly app: Pick<HttpApp, 'admitUpgrade'>
  readonly webSockets: Pick<SocketServer, 'accept'>
  readonly logger: Logger
  /** Whether another HTTP server receives the upgrades, so that a mount path may precede the base path. */
  readonly isMounted?: boolean
}

/** Takes over the connection of an upgrade request. A method, so that it can be implemented for the types of Node.js. */
export type OnUpgrade = {
  upgrade(incoming: IncomingUpgrade, socket: UpgradeSocket, head: Uint8Array): void
}['upgrade']

/** Runs an upgrade request through the HTTP stages up to routing. Authentication is left to the WebSocket server. */
export function createUpgrades({ app, webSockets, logger, isMounted = false }: UpgradesDeps): OnUpgrade {
  const logUnrecorded = (error: unknown) => logger.error('failed to record a WebSocket upgrade', error)

  const upgrade = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const request = toHttpRequest(incoming, 'localhost')
    if (request === undefined) return refuseOnSocket(socket, unreadable('request: cannot be read'), incoming)
    const admitted = await app.admitUpgrade(request, { incoming, isMounted })
    if (!('record' in admitted)) return sendOnSocket(socket, admitted)
    const { clientAddress, requestId, operationId, params, record, refuse } = admitted
    try {
      const admission = await webSockets.accept({
        ...{ incoming, socket, head, clientAddress, requestId, operationId, params },
      })
      // The WebSocket handles errors of its connection itself.
      if (socket.listenerCount('error') > 1) socket.off('error', destroyOnError)
      // The client already has its answer, so a failure can only be logged.
      await record(admission).catch(logUnrecorded)
    } catch (error) {
      if (!isRefusal(error)) logger.error('upgrade failed', error)
      else await record({ error }).catch(logUnrecorded)
      return sendOnSocket(socket, await refuse(error))
    }
  }

  return (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade(incoming, socket, head).catch((error: unknown) => {
      if (!isRefusal(error)) logger.error('upgrade failed', error)
      const refusal = isRefusal(error) ? error : perdureError('internal-error', { cause: error })
      refuseOnSocket(socket, refusal, incoming)
    })
  }
}
