import { type ClientContext, type ClientOptions, createContext, type WebSocketConstructor } from './client-options.ts'
import type { StreamMethods } from './configured-methods.ts'
import type { Pace } from './pace.ts'
import { buildRestClient } from './rest-client.ts'
import type { RestClient, UntypedRestClient } from './rest-methods.ts'
import { type FollowOptions, openRunEvents, type RunEvents, type RunStream, type StreamOptions } from './run-events.ts'
import type { CallOptions } from './send-request.ts'
import { createSocketHub, type SocketHub } from './socket-hub.ts'
import { subscribeOverSocket } from './subscribe-over-socket.ts'
import { subscribeOverSse } from './subscribe-over-sse.ts'
import type { SubscribeOptions, Subscription } from './subscription.ts'

interface FollowMethods {
  readonly runs: {
    /**
     * Follows a run from its first event, or after `lastEventId`, to its end. Iteration throws a PerdureError if the
     * server has no such run, or rejects the subscription.
     */
    follow(runId: string, options?: FollowOptions): RunEvents
  }
}

interface Connection {
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

/** Every REST operation as a method, plus runs that are followed and subscriptions. */
export type PerdureClient<Config = unknown> = RestClient<Config> &
  StreamMethods<Config, UntypedRestClient> &
  FollowMethods &
  Connection

/**
 * Creates a client, which connects when it is first used. With the type of a configuration module, the ids, inputs and
 * results of its agents and workflows are typed: `createClient<typeof config>(…)`, after
 * `import type config from './perdure.config.ts'`. Such an import loads no code.
 */
export function createClient(options: ClientOptions): PerdureClient
export function createClient<Config>(options: ClientOptions): PerdureClient<Config>
export function createClient(options: ClientOptions): PerdureClient {
  return buildClient(options)
}

/** @param pace replaces the clock, the timers and the randomness, for tests */
export function buildClient(options: ClientOptions, pace?: Pace): PerdureClient {
  const context = createContext(options, pace)
  const rest = buildRestClient(context)
  const ending = new AbortController()
  const { transport = 'auto' } = options
  const hub = transport === 'sse' ? undefined : hubOf(context, options, { rest, ending: ending.signal })

  const subscribe = (subject: string, subscribeOptions: SubscribeOptions = {}) => {
    const chosen = { ...subscribeOptions, transport: subscribeOptions.transport ?? transport }
    const request = { subject, options: chosen, closed: ending.signal }
    if (hub === undefined || chosen.transport === 'sse') return subscribeOverSse(context, request)
    return subscribeOverSocket({ context, rest, hub }, request)
  }

  const stream = <Started extends { readonly subject: string }>(
    start: (callOptions: CallOptions) => Promise<Started>,
    streamOptions: StreamOptions = {},
  ): RunStream<Started> => {
    const started = start(streamOptions)
    started.catch(() => {}) // whoever awaits it or iterates gets the error
    const subject = async () => (await started).subject
    return Object.assign(openRunEvents(subscribe, subject, streamOptions), { started })
  }

  return {
    ...rest,
    agents: {
      ...rest.agents,
      stream: (agentId, body, streamOptions) =>
        stream((callOptions) => rest.agents.start(agentId, body, callOptions), streamOptions),
    },
    workflows: {
      ...rest.workflows,
      stream: (workflowId, body, streamOptions) =>
        stream((callOptions) => rest.workflows.execute(workflowId, body, callOptions), streamOptions),
    },
    runs: {
      ...rest.runs,
      follow(runId, followOptions = {}) {
        const { signal } = followOptions
        const subject = async () => subjectOf(await rest.runs.get(runId, { signal }))
        return openRunEvents(subscribe, subject, followOptions)
      },
    },
    subscribe,
    close() {
      ending.abort()
      hub?.close()
    },
  }
}

/** The shared WebSocket, which opens with the first subscription; `undefined` where none exists. */
function hubOf(
  context: ClientContext,
  { WebSocket = globalWebSocket(), onConnection = () => {} }: ClientOptions,
  { rest, ending }: { readonly rest: Pick<RestClient, 'realtime'>; readonly ending: AbortSignal },
): SocketHub | undefined {
  if (WebSocket === undefined) return undefined

  /** Makes a single attempt: the socket hub retries it, without waiting for the backoff once the network is back. */
  const mintTicket = async (): Promise<string | undefined> => {
    if (context.token === undefined) return undefined
    const { ticket } = await rest.realtime.createWsTicket({ signal: ending, maxRetries: 0 })
    return ticket
  }

  return createSocketHub({
    baseUrl: context.baseUrl,
    pace: context.pace,
    WebSocket,
    ticket: async (request) => (context.tickets === undefined ? mintTicket() : context.tickets(request)),
    onConnection,
  })
}

function globalWebSocket(): WebSocketConstructor | undefined {
  const scope: { readonly WebSocket?: unknown } = globalThis
  return scope.WebSocket as WebSocketConstructor | undefined
}

/** The subject with the events of a run. */
const subjectOf = ({ id, kind, agentId, workflowId }: Awaited<ReturnType<UntypedRestClient['runs']['get']>>): string =>
  `${kind}:${kind === 'agent' ? agentId : workflowId}/runs/${id}/events`
