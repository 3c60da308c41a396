import { type ClientOptions, createContext, type WebSocketConstructor } from './client-options.ts'
import { buildRestClient } from './rest-client.ts'
import type { RestClient } from './rest-methods.ts'
import { createSocketHub, type SocketHub } from './socket-hub.ts'
import { subscribeOverSse } from './sse-client.ts'
import { subscribeOverSocket } from './subscribe.ts'
import type { SubscribeOptions, Subscription } from './subscription.ts'

/** Every operation by group and name, and subscriptions. */
export type PerdureClient = RestClient & {
  /**
   * Follows a subject: over one WebSocket that all subscriptions of the client share, or over Server-Sent Events. It begins
   * when it is iterated and resumes by itself. Iterating throws a PerdureError when the server refuses for good.
   *
   * @throws PerdureError `validation-failed` when the subject cannot be followed over the transport that is there
   */
  subscribe(subject: string, options?: SubscribeOptions): Subscription
  /** Ends all subscriptions and the WebSocket. Calls go on. */
  close(): void
}

export function createClient(options: ClientOptions): PerdureClient {
  const context = createContext(options)
  const rest = buildRestClient(context)
  const ending = new AbortController()
  const { WebSocket = globalWebSocket() } = options

  /** Tried once: the hub tries again, and knows when the network is back. */
  const mintTicket = async (): Promise<string | undefined> => {
    if (context.token === undefined) return undefined
    const { ticket } = await rest.realtime.createWsTicket({ signal: ending.signal, maxRetries: 0 })
    return ticket
  }

  const hub: SocketHub | undefined = WebSocket
    ? createSocketHub({
        baseUrl: context.baseUrl,
        pace: context.pace,
        WebSocket,
        ticket: async (request) => (context.tickets === undefined ? mintTicket() : context.tickets(request)),
        onConnection: options.onConnection ?? (() => {}),
      })
    : undefined

  return {
    ...rest,
    subscribe(subject, subscribeOptions = {}) {
      const subscribing = { subject, options: subscribeOptions, closed: ending.signal }
      if (hub === undefined || subscribeOptions.transport === 'sse') return subscribeOverSse(context, subscribing)
      return subscribeOverSocket({ context, rest, hub }, subscribing)
    },
    close() {
      ending.abort()
      hub?.close()
    },
  }
}

function globalWebSocket(): WebSocketConstructor | undefined {
  const scope: { readonly WebSocket?: unknown } = globalThis
  return scope.WebSocket as WebSocketConstructor | undefined
}
