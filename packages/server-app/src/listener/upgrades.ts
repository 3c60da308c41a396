import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpApp } from '@perdure/http'
import { AppError, type Logger } from '@perdure/ports'
import type { WebSockets } from '@perdure/realtime'
import { endBroken } from './end-broken.ts'
import { toHttpRequest } from './incoming-request.ts'
import { refuseOn, sendOn } from './refuse.ts'
import { unreadable } from './unreadable-request.ts'

export interface UpgradesDeps {
  readonly app: Pick<HttpApp, 'admitUpgrade'>
  readonly webSockets: Pick<WebSockets, 'accept'>
  readonly logger: Logger
}

/** Takes over the connection of a request that asks for another protocol. */
export type OnUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Answers an upgrade like any other request, in HTTP, until nothing is left but who asks. */
export function createUpgrades({ app, webSockets, logger }: UpgradesDeps): OnUpgrade {
  const take = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const request = toHttpRequest(incoming, 'localhost')
    if (request === undefined) return refuseOn(socket, unreadable('request: cannot be read'), incoming)
    const admitted = await app.admitUpgrade(request, { incoming })
    if (!('settle' in admitted)) return sendOn(socket, admitted)
    const { clientAddress, requestId, settle, refuse } = admitted
    try {
      const admission = await webSockets.accept({ incoming, socket, head, clientAddress, requestId })
      // The WebSocket listens to the errors of its connection itself.
      if (socket.listenerCount('error') > 1) socket.off('error', endBroken)
      // The client has its answer: what goes wrong now is for the log.
      await settle(admission).catch((error: unknown) => logger.error('a WebSocket was not recorded', error))
    } catch (error) {
      if (!(error instanceof AppError)) logger.error('upgrade failed', error)
      else await settle({ error }).catch((cause: unknown) => logger.error('a WebSocket was not recorded', cause))
      return sendOn(socket, await refuse(error))
    }
  }

  return (incoming, socket, head) => {
    take(incoming, socket, head).catch((error: unknown) => {
      if (!(error instanceof AppError)) logger.error('upgrade failed', error)
      refuseOn(socket, error instanceof AppError ? error : new AppError('internal-error', { cause: error }), incoming)
    })
  }
}
