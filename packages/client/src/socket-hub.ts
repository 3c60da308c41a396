import { isPerdureError, PerdureError } from '@perdure/protocol/error'
import type { ClientContext, ConnectionChange, CredentialRequest, WebSocketConstructor } from './client-options.ts'
import { closePolicy, type Reconnect, ticketErrorPolicy } from './close-policy.ts'
import { pause } from './pace.ts'
import { SUBPROTOCOL, TICKET_PREFIX } from './protocol-tables.ts'
import { openSocket, type SocketClose } from './socket-connection.ts'
import { createSocketSubscriptions, type SocketFollower } from './socket-subscriptions.ts'

export interface SocketHubDeps extends Pick<ClientContext, 'baseUrl' | 'pace'> {
  readonly WebSocket: WebSocketConstructor
  /** Returns a ticket for the next connection, or `undefined` if the server needs none. */
  readonly ticket: (request: CredentialRequest) => Promise<string | undefined>
  readonly onConnection: (change: ConnectionChange) => void
}

/**
 * The WebSocket that a client's subscriptions share. Opens with the first subscription and closes shortly after the
 * last one ends.
 */
export interface SocketHub {
  attach(follower: SocketFollower): void
  /** Stops delivering to the follower. Attaching it again resumes at its cursor. */
  detach(follower: SocketFollower): void
  close(): void
}

/** A connection that lasts this long resets the backoff. */
const STABLE_AFTER_MS = 5_000
/** A connection that lasts this long shows that its credential was accepted, however short the life of the credential is. */
const ACCEPTED_AFTER_MS = 1_000
/** How long an idle connection stays open for the next subscription. */
const LINGER_MS = 1_000
/** Consecutive failed upgrades after which subscriptions fall back to Server-Sent Events. */
const MAX_UNOPENED = 2

interface ReconnectState {
  /** Consecutive connections that did not become stable. */
  failures: number
  /** Consecutive failed upgrades. */
  unopened: number
  /** Whether no credential was accepted since the last rejection. The next connection uses a new one; another rejection is final. */
  isRefused: boolean
}

type Closed = SocketClose & { readonly wasStable: boolean; readonly wasAccepted: boolean }
type Outcome = Closed | PerdureError

export function createSocketHub(deps: SocketHubDeps): SocketHub {
  const { pace } = deps
  const subscriptions = createSocketSubscriptions(pace)
  const ending = new AbortController()
  const url = `${deps.baseUrl.replace(/^http/, 'ws')}/ws`
  let isRunning = false
  let cancelLinger: () => void = () => {}

  /** Opens one connection and resolves when it closes. */
  const connect = async (isRefused: boolean): Promise<Closed> => {
    const ticket = await deps.ticket({ isRefused })
    deps.onConnection({ state: 'connecting' })
    return new Promise((resolve) => {
      let wasStable = false
      let wasAccepted = false
      const cancelTimers: (() => void)[] = []
      const protocols = ticket === undefined ? [SUBPROTOCOL] : [SUBPROTOCOL, `${TICKET_PREFIX}${ticket}`]
      openSocket(
        { WebSocket: deps.WebSocket, pace, url, protocols },
        {
          onReady(connection) {
            cancelTimers.push(
              pace.after(ACCEPTED_AFTER_MS, () => {
                wasAccepted = true
              }),
              pace.after(STABLE_AFTER_MS, () => {
                wasStable = true
              }),
            )
            if (ending.signal.aborted) return connection.close()
            deps.onConnection({ state: 'open' })
            subscriptions.open(connection)
            lingerIfIdle()
          },
          onPush: subscriptions.push,
          onClosed(closing) {
            for (const cancel of cancelTimers) cancel()
            subscriptions.close()
            resolve({ ...closing, wasStable, wasAccepted })
          },
        },
      )
    })
  }

  const run = async () => {
    const state: ReconnectState = { failures: 0, unopened: 0, isRefused: false }
    while (subscriptions.size() > 0 && !ending.signal.aborted) {
      const outcome: Outcome = await connect(state.isRefused).catch(toTicketError)
      const reconnect: Reconnect = isPerdureError(outcome)
        ? afterTicketError(outcome, state)
        : afterClose(outcome, state)
      await apply(reconnect, state)
    }
  }

  const afterClose = (closing: Closed, state: ReconnectState): Reconnect => {
    const reconnect = closePolicy(closing, closing.wasStable ? 0 : state.failures, pace.random())
    state.unopened = closing.wasOpen ? 0 : state.unopened + 1
    state.failures = closing.wasStable ? 0 : state.failures + 1
    if (closing.wasAccepted) state.isRefused = false
    const retryInMs = reconnect.kind === 'reconnect' && subscriptions.size() > 0 ? reconnect.delayMs : undefined
    deps.onConnection({ state: 'closed', code: closing.code, reason: closing.reason, retryInMs })
    return reconnect
  }

  const afterTicketError = (error: PerdureError, state: ReconnectState): Reconnect => {
    state.failures += 1
    return ticketErrorPolicy(error, state.failures - 1, pace.random())
  }

  const apply = async (reconnect: Reconnect, state: ReconnectState) => {
    if (state.unopened >= MAX_UNOPENED) subscriptions.fallBack()
    if (reconnect.kind === 'reconnect') {
      if (subscriptions.size() > 0) await waitToReconnect(reconnect.delayMs)
      return
    }
    if (reconnect.kind === 'final' || state.isRefused) subscriptions.fail(reconnect.error)
    state.isRefused = true
  }

  /** Waits for the backoff, or until the browser reports that the network is back. */
  const waitToReconnect = async (delayMs: number) => {
    const wake = new AbortController()
    const page: NetworkWatcher = globalThis
    const onOnline = () => wake.abort()
    page.addEventListener?.('online', onOnline)
    await pause(pace, delayMs, AbortSignal.any([wake.signal, ending.signal])).catch(() => {}) // woken early
    page.removeEventListener?.('online', onOnline)
  }

  const start = () => {
    if (isRunning || ending.signal.aborted) return
    isRunning = true
    void run().finally(() => {
      isRunning = false
      if (subscriptions.size() > 0) start()
    })
  }

  const lingerIfIdle = () => {
    cancelLinger()
    if (subscriptions.size() === 0 && !ending.signal.aborted)
      cancelLinger = pace.after(LINGER_MS, () => subscriptions.disconnect())
  }

  return {
    attach(follower) {
      if (ending.signal.aborted) return follower.onRefused(new PerdureError('client-closed', 'The client is closed.'))
      cancelLinger()
      subscriptions.add(follower)
      start()
    },
    detach(follower) {
      subscriptions.remove(follower)
      lingerIfIdle()
    },
    close() {
      ending.abort()
      cancelLinger()
      subscriptions.fail(new PerdureError('client-closed', 'The client is closed.'))
      subscriptions.disconnect()
    },
  }
}

/** Network events exist in a page but not in Node. */
interface NetworkWatcher {
  readonly fetch?: unknown
  addEventListener?(type: 'online', listener: () => void): void
  removeEventListener?(type: 'online', listener: () => void): void
}

const toTicketError = (thrown: unknown): PerdureError =>
  isPerdureError(thrown)
    ? thrown
    : new PerdureError('network-failed', 'No WebSocket ticket could be obtained.', { cause: thrown })
