import { type ClientOptions, createContext, type WebSocketConstructor } from './client-options.ts'
import { buildRestClient } from './rest-client.ts'
import type { RestClient } from './rest-methods.ts'
import { createSocketHub, type SocketHub } from './socket-hub.ts'
import { subscribeOverSse } from './sse-client.ts'
import { subscribeOverSocket } from './subscribe.ts'
import type { SubscribeOptions, Subscription } from './subscription.ts'

/** Every REST operation as a method, plus subscriptions. */
export type PerdureClient<Config = unknown> = RestClient<Config> & {
  /**
   * Subscribes to a subject over the WebSocket that all subscriptions of this client share, or over Server-Sent Events.
   * The subscription starts when you iterate it and reconnects automatically. Iteration throws a PerdureError if the
   * server rejects the subscription permanently.
   *
   * @throws PerdureError `validation-failed` if the available transport does not support the subject
   */
  subscribe(subject: string, options?: SubscribeOptions): Subscription
  /** Ends all subscriptions and closes the WebSocket. Calls in progress continue. */
  close(): void
}

/**
 * Creates a client. With the type of a configuration module, the ids, inputs and results of its agents and workflows are
 * typed: `createClient<typeof config>(…)`, after `import type config from './perdure.config.ts'`. Such an import loads no
 * code.
 */
export function createClient(options: ClientOptions): PerdureClient
export function createClient<Config>(options: ClientOptions): PerdureClient<Config>
export function createClient(options: ClientOptions): PerdureClient {
  const context = createContext(options)
  const rest = buildRestClient(context)
  const ending = new AbortController()
  const { WebSocket = globalWebSocket() } = options

  /** Makes a single attempt: the socket hub retries it, without waiting for the backoff once the network is back. */
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
      const request = { subject, options: subscribeOptions, closed: ending.signal }
      if (hub === undefined || subscribeOptions.transport === 'sse') return subscribeOverSse(context, request)
      return subscribeOverSocket({ context, rest, hub }, request)
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
