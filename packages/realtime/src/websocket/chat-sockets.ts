import { authorizeOperation, type Principal } from '@perdure/core'
import { isRefusal } from '@perdure/ports'
import { PROTOCOLS, SUBPROTOCOL, TICKET_PREFIX } from '@perdure/protocol'
import { type ChatConnectionsDeps, createChatConnections } from './chat-connections.ts'
import { admit, type CredentialDeps } from './credentials.ts'
import { readOffer } from './handshake.ts'
import { createSocketServer, type SocketServer, type SocketServerDeps } from './socket-server.ts'

export interface ChatSocketsDeps
  extends Omit<ChatConnectionsDeps, 'limits'>,
    CredentialDeps,
    Omit<SocketServerDeps, 'limits'> {
  readonly limits: ChatConnectionsDeps['limits'] & SocketServerDeps['limits']
  /** @throws PerdureError `agent-not-found` if the agent takes no chats */
  readonly checkAgent: (agentId: string) => Promise<void>
  /** Maximum size of a message, in bytes. */
  readonly maxMessageBytes: number
}

/**
 * The WebSockets of `WebSocketChatTransport`. The client may offer any subprotocols. A page sends its ticket as one of
 * them, or in the query, from which it can send another one with each connection.
 */
export function createChatSockets(deps: ChatSocketsDeps): SocketServer {
  return createSocketServer(deps, {
    connections: createChatConnections(deps),
    maxFrameBytes: deps.maxMessageBytes,
    readHandshake: readOffer,
    async admit(shown, { incoming, params = {} }) {
      const ticket = new URLSearchParams(incoming.url?.split('?')[1]).get('ticket')
      const protocols = ticket === null ? shown.protocols : [...shown.protocols, TICKET_PREFIX + ticket]
      const admission = await admit(deps, { ...shown, protocols }, (principal) => mayChat(principal, params))
      // A caller who may not chat with the agent is not told whether there is one.
      if (!('closeAs' in admission)) await deps.checkAgent(params.agentId ?? '')
      return admission
    },
    selectProtocol(offered) {
      if (offered.has(SUBPROTOCOL)) return SUBPROTOCOL
      // A browser closes a connection whose subprotocols are all ignored, even if there is only a ticket.
      const all = [...offered]
      return all.find((protocol) => !protocol.startsWith(TICKET_PREFIX)) ?? all[0] ?? false
    },
  })
}

function mayChat(principal: Principal, params: Readonly<Record<string, string>>): boolean {
  try {
    authorizeOperation(principal, PROTOCOLS.aiSdk.operations.openChatSocket, params)
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}
