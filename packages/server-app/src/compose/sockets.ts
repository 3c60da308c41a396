import type { RunTargets } from '@perdure/core'
import type { HttpApp } from '@perdure/http'
import type { YieldTurn } from '@perdure/ports'
import { OPERATION_TABLES, PROTOCOLS } from '@perdure/protocol'
import {
  type ChatSocketsDeps,
  createChatSockets,
  createConnectionLimits,
  createWebSockets,
  type OpenChat,
  type SocketServer,
  type WebSocketLimits,
  type WebSocketsDeps,
} from '@perdure/realtime'

export interface SocketsDeps
  extends Omit<WebSocketsDeps, 'connectionLimits' | 'limits'>,
    Omit<ChatSocketsDeps, 'connectionLimits' | 'limits' | 'openChat' | 'maxMessageBytes' | 'checkAgent'> {
  readonly limits: WebSocketLimits
  /** Maximum size of the body of a request of a chat, in bytes. */
  readonly bodyLimitBytes: number
  readonly basePath: string
  readonly yieldTurn: YieldTurn
  readonly targets: RunTargets
  /** Answers requests of chats. */
  readonly fetch: HttpApp['fetch']
}

/** What a message has besides the body of the request that it stands for, in bytes. */
const FRAME_BYTES = 4_096

/** Every WebSocket of the server, whatever it speaks. */
export function createSockets(deps: SocketsDeps): SocketServer {
  const connectionLimits = createConnectionLimits(deps.limits)
  const webSockets = createWebSockets({ ...deps, connectionLimits })
  const maxMessageBytes = deps.bodyLimitBytes + FRAME_BYTES
  const chatSockets = createChatSockets({
    ...deps,
    ...{ connectionLimits, maxMessageBytes, openChat: openChatOver({ ...deps, maxBytes: maxMessageBytes }) },
    async checkAgent(agentId) {
      const { offeredAgent } = await import('@perdure/interop')
      offeredAgent(deps.targets, agentId, 'aiSdk')
    },
  })
  const byOperation: Readonly<Record<string, SocketServer>> = {
    [OPERATION_TABLES.realtime.openWebSocket.id]: webSockets,
    [PROTOCOLS.aiSdk.operations.openChatSocket.id]: chatSockets,
  }
  const all = [webSockets, chatSockets]
  const sumOf = (count: 'size' | 'subscriptions') => all.reduce((sum, one) => sum + one[count](), 0)

  return {
    accept: (upgrade) => (byOperation[upgrade.operationId] ?? webSockets).accept(upgrade),
    async closeAll() {
      await Promise.all(all.map((one) => one.closeAll()))
    },
    terminateAll() {
      for (const one of all) one.terminateAll()
    },
    size: () => sumOf('size'),
    subscriptions: () => sumOf('subscriptions'),
  }
}

interface ChatOverDeps extends Pick<SocketsDeps, 'fetch' | 'basePath' | 'yieldTurn'> {
  /** Maximum size of a message. */
  readonly maxBytes: number
}

/** The messages of a chat become requests of its user to this server. */
const openChatOver =
  ({ fetch, basePath, maxBytes, yieldTurn }: ChatOverDeps): OpenChat =>
  async ({ principal, clientAddress, host = 'localhost', params, send, refuse }) => {
    const { createChatSocket } = await import('@perdure/interop')
    return createChatSocket({
      ...{ agentId: params.agentId ?? '', maxBytes, yieldTurn, send, refuse },
      request({ method, path, body, key }) {
        const headers = {
          ...{ host, 'content-type': 'application/json' },
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        }
        const init = { method, headers, ...(body === undefined ? {} : { body }) }
        return fetch(new Request(`http://${host}${basePath}${path}`, init), { caller: principal, clientAddress })
      },
    })
  }
