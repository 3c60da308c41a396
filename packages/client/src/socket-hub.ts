import type { ClientContext, ConnectionChange, CredentialRequest, WebSocketConstructor } from './client-options.ts'
import { pause } from './pace.ts'
import { isPerdureError, PerdureError } from './perdure-error.ts'
import { SUBPROTOCOL, TICKET_PREFIX } from './protocol-tables.ts'
import { judgeClosing, judgeTicket, type Verdict } from './socket-closing.ts'
import { type Closing, openSocket } from './socket-connection.ts'
import { createSocketRoutes, type SocketFollower } from './socket-routes.ts'

export interface SocketHubDeps extends Pick<ClientContext, 'baseUrl' | 'pace'> {
  readonly WebSocket: WebSocketConstructor
  /** A ticket for the next connection; `undefined`: it needs none. */
  readonly ticket: (request: CredentialRequest) => Promise<string | undefined>
  readonly onConnection: (change: ConnectionChange) => void
}

/** One WebSocket for all subscriptions of a client: opened with the first, closed a moment after the last. */
export interface SocketHub {
  attach(follower: SocketFollower): void
  /** Stops pushing to it. May be attached again later, and then goes on at its cursor. */
  detach(follower: SocketFollower): void
  close(): void
}

/** A connection that lasted this long was a good one. */
const SETTLED_MS = 5_000
/** How long a connection without subscriptions is kept for the next one. */
const LINGER_MS = 1_000
/** Upgrades in a row that never opened, before subscriptions that can go elsewhere do. */
const UNOPENED_LIMIT = 2

/** How the connections of a hub have gone so far. */
interface Course {
  /** In a row that came to nothing. */
  failures: number
  /** In a row whose upgrade did not succeed. */
  unopened: number
  /** Whether the last credential was refused, and another one is tried. */
  isRefused: boolean
}

type Closed = Closing & { readonly wasSettled: boolean }
type Outcome = Closed | PerdureError

export function createSocketHub(deps: SocketHubDeps): SocketHub {
  const { pace } = deps
  const routes = createSocketRoutes(pace)
  const ending = new AbortController()
  const url = `${deps.baseUrl.replace(/^http/, 'ws')}/ws`
  let isRunning = false
  let cancelLinger: () => void = () => {}

  /** Runs one connection to its end. */
  const connect = async (isRefused: boolean): Promise<Closed> => {
    const ticket = await deps.ticket({ isRefused })
    deps.onConnection({ state: 'connecting' })
    return new Promise((resolve) => {
      let wasSettled = false
      let cancelSettling: () => void = () => {}
      const protocols = ticket === undefined ? [SUBPROTOCOL] : [SUBPROTOCOL, `${TICKET_PREFIX}${ticket}`]
      openSocket(
        { WebSocket: deps.WebSocket, pace, url, protocols },
        {
          onReady(connection) {
            cancelSettling = pace.after(SETTLED_MS, () => {
              wasSettled = true
            })
            if (ending.signal.aborted) return connection.close()
            deps.onConnection({ state: 'open' })
            routes.open(connection)
            lingerIfIdle()
          },
          onPush: routes.push,
          onClosed(closing) {
            cancelSettling()
            routes.close()
            resolve({ ...closing, wasSettled })
          },
        },
      )
    })
  }

  const run = async () => {
    const course: Course = { failures: 0, unopened: 0, isRefused: false }
    while (routes.size() > 0 && !ending.signal.aborted) {
      const outcome: Outcome = await connect(course.isRefused).catch(asError)
      const verdict: Verdict = isPerdureError(outcome) ? judgeRefusal(outcome, course) : judge(outcome, course)
      await obey(verdict, course)
    }
  }

  const judge = (closing: Closed, course: Course): Verdict => {
    const verdict = judgeClosing(closing, closing.wasSettled ? 0 : course.failures, pace.random())
    course.unopened = closing.wasOpen ? 0 : course.unopened + 1
    course.failures = closing.wasSettled ? 0 : course.failures + 1
    if (closing.wasSettled) course.isRefused = false
    const retryInMs = verdict.kind === 'reconnect' && routes.size() > 0 ? verdict.delayMs : undefined
    deps.onConnection({ state: 'closed', code: closing.code, reason: closing.reason, retryInMs })
    return verdict
  }

  const judgeRefusal = (error: PerdureError, course: Course): Verdict => {
    course.failures += 1
    return judgeTicket(error, course.failures - 1, pace.random())
  }

  const obey = async (verdict: Verdict, course: Course) => {
    if (course.unopened >= UNOPENED_LIMIT) routes.offerLeave()
    if (verdict.kind === 'reconnect') {
      if (routes.size() > 0) await waitToReconnect(verdict.delayMs)
      return
    }
    if (verdict.kind === 'final' || course.isRefused) routes.fail(verdict.error)
    course.isRefused = true
  }

  /** Waits, but not longer than the network is away. */
  const waitToReconnect = async (delayMs: number) => {
    const wake = new AbortController()
    const page: NetworkWatcher = globalThis
    const onOnline = () => wake.abort()
    page.addEventListener?.('online', onOnline)
    await pause(pace, delayMs, AbortSignal.any([wake.signal, ending.signal])).catch(() => {}) // woken
    page.removeEventListener?.('online', onOnline)
  }

  const start = () => {
    if (isRunning || ending.signal.aborted) return
    isRunning = true
    void run().finally(() => {
      isRunning = false
      if (routes.size() > 0) start()
    })
  }

  const lingerIfIdle = () => {
    cancelLinger()
    if (routes.size() === 0 && !ending.signal.aborted) cancelLinger = pace.after(LINGER_MS, () => routes.hangUp())
  }

  return {
    attach(follower) {
      if (ending.signal.aborted) return follower.onRefused(new PerdureError('client-closed', 'The client is closed.'))
      cancelLinger()
      routes.add(follower)
      start()
    },
    detach(follower) {
      routes.remove(follower)
      lingerIfIdle()
    },
    close() {
      ending.abort()
      cancelLinger()
      routes.fail(new PerdureError('client-closed', 'The client is closed.'))
      routes.hangUp()
    },
  }
}

/** What a page has of its window, and Node has not. */
interface NetworkWatcher {
  readonly fetch?: unknown
  addEventListener?(type: 'online', listener: () => void): void
  removeEventListener?(type: 'online', listener: () => void): void
}

const asError = (thrown: unknown): PerdureError =>
  isPerdureError(thrown) ? thrown : new PerdureError('network-failed', 'No ticket could be had.', { cause: thrown })
