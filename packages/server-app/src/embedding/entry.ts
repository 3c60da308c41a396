import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { PerdureClient } from '@perdure/client'
import { HOST_SUBJECT_PREFIX, type IssuedToken, type Principal, type TokenForUser } from '@perdure/core'
import { perdureError, type Refusal } from '@perdure/ports'
import type { IncomingUpgrade, UpgradeSocket } from '@perdure/realtime'
import { destroyOnError } from '../listener/destroy-on-error.ts'
import { isEventStream } from '../listener/event-stream.ts'
import { endedBySignal } from './ended-by-signal.ts'
import { type Caller, createInProcessClient, principalOf } from './in-process-client.ts'
import type { PassedRequests, PassedRequestsDeps } from './passed-requests.ts'

/** Facts about a request that the embedding program can pass on with it. */
export interface RequestInfo {
  /** The address of the client. Without it, the limits per address do not apply to the request. */
  readonly clientAddress?: string | undefined
  /**
   * The user that the program has authenticated, such as by its own cookie. The request acts for the subject
   * `host:<subject>` with these scopes, and its runs read `name` and `claims` as `ctx.caller`; credentials in the request are ignored. A request that a browser sends for a page
   * of another site is refused.
   */
  readonly as?: Caller | undefined
}

/** The entry points of a server for the program that embeds it. */
export interface EmbeddedServer {
  /**
   * Answers a request that another HTTP server of the process has received, under any mount path. Waits for a start in
   * progress. Never rejects: before the start and after the stop, the answer is 503. When the signal of the request
   * aborts, its event stream ends.
   *
   * @throws TypeError if the subject or a scope in `as` is malformed
   */
  fetch(request: Request, info?: RequestInfo): Promise<Response>
  /** Takes over a WebSocket upgrade that another HTTP server of the process has received, under any mount path. */
  upgrade(incoming: IncomingUpgrade, socket: UpgradeSocket, head: Uint8Array): void
  /**
   * Creates a client that calls the server inside the process, without a token, as `subject` and with these scopes.
   * Its calls are authorized, audited and idempotent like those over HTTP. Its subscriptions need no open port, and end
   * when the server stops.
   *
   * @throws TypeError if the subject is empty or a scope is malformed
   */
  client(caller: Caller): PerdureClient
  client<Config>(caller: Caller): PerdureClient<Config>
  /**
   * Issues a token for a user of the program, to be handed to the user's page. It acts for the subject `host:<subject>`.
   *
   * @throws PerdureError `validation-failed`; `server-draining` before the start and after the stop
   */
  issueToken(request: TokenForUser): Promise<IssuedToken>
}

export interface Entry {
  readonly embedded: EmbeddedServer
  /** Makes requests wait for the start. */
  starting(started: Promise<unknown>): void
  /** Passes requests to the app from now on. */
  open(deps: PassedRequestsDeps): Promise<void>
  /** Refuses new requests, and waits up to `graceMs` for the answers to those it has passed on. */
  close(graceMs: number): Promise<void>
}

const RETRY_AFTER_MS = 1_000

/** @throws TypeError */
const userOf = ({ subject, ...user }: Caller): Principal =>
  principalOf({
    ...user,
    subject: typeof subject === 'string' && subject !== '' ? `${HOST_SUBJECT_PREFIX}${subject}` : '',
  })

export function createEntry(basePath: string): Entry {
  let starting: Promise<unknown> | undefined
  let requests: PassedRequests | undefined
  let isStopped = false

  const opened = async (): Promise<PassedRequests> => {
    await starting?.catch(() => undefined)
    if (requests !== undefined) return requests
    throw perdureError('server-draining', {
      message: starting === undefined ? 'the server has not been started' : 'the server has stopped',
      hint: starting === undefined ? 'call start({ listen: false }) before the first request' : 'create a new server',
      retryAfter: RETRY_AFTER_MS,
    })
  }

  const answer: PassedRequests['answer'] = async (request, env) => {
    try {
      return await (requests ?? (await opened())).answer(request, env)
    } catch (error) {
      const { toErrorResponse } = await import('@perdure/http')
      return toErrorResponse(error, { randomBytes })
    }
  }

  const upgrade = async (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    try {
      const passed = requests ?? (await opened())
      passed.upgrade(incoming, socket, head)
    } catch (error) {
      const { refuseOnSocket } = await import('../listener/refuse.ts')
      refuseOnSocket(socket, error as Refusal, incoming)
    }
  }

  return {
    embedded: {
      async fetch(request, info = {}) {
        const { clientAddress, as } = info
        const response = await answer(request, { clientAddress, ...(as === undefined ? {} : { caller: userOf(as) }) })
        // Other answers end by themselves. Some adapters create the signal of a request only when it is read.
        return isEventStream(response.headers) ? endedBySignal(response, request.signal) : response
      },
      upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer) {
        socket.on('error', destroyOnError)
        void upgrade(incoming, socket, head)
      },
      issueToken: async (request) => (requests ?? (await opened())).issueToken(request),
      client: (caller: Caller) => createInProcessClient(caller, { basePath, answer, isStopped: () => isStopped }),
    },
    starting(started) {
      starting = started
    },
    async open(deps) {
      const { createPassedRequests } = await import('./passed-requests.ts')
      requests = createPassedRequests(deps)
    },
    async close(graceMs) {
      const passed = requests
      requests = undefined
      isStopped = true
      await passed?.settled(graceMs)
    },
  }
}
