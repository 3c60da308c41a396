import { WebSocket } from 'ws'
import { bearer } from '../perdure-process.ts'
import type { EventPayload, Exchange, Revocation, TicketUse } from './history.ts'

/** The response fields that the load reads; which are present depends on the route. */
export interface Shown {
  readonly id: string
  readonly runId: string
  readonly status: string
  readonly finishReason: string | null
  readonly result?: unknown
  readonly attempt: number
  readonly agentId?: string
  readonly workflowId?: string
  readonly input?: { readonly name?: string }
  readonly metadata: { readonly scheduledAt?: string }
  readonly token: string
  readonly ticket: string
  readonly title: string
  readonly items: readonly Shown[]
  readonly nextCursor: string | null
  readonly waitingFor?: readonly { readonly kind: string; readonly approvalId?: string }[]
  readonly eventId: string
  readonly type: string
  readonly payload: EventPayload
  readonly scheduledAt: string
  readonly ok: boolean
  readonly action: string
  readonly target: string
  readonly decision: string
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly key?: string
  /** By default, the token of the administrator. */
  readonly token?: NamedToken
  /** Statuses that the response may have; by default those of success. */
  readonly expected?: readonly number[]
}

export interface NamedToken {
  readonly name: string
  readonly secret: string
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly body: Shown
  readonly isReplayed: boolean
}

export interface ClientOptions {
  /** The address of the proxy in front of the nodes. */
  readonly url: string
  readonly admin: NamedToken
  readonly random: () => number
}

export type Client = ReturnType<typeof createClient>

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A client gives up a request after this time and repeats it: its node may be paused. */
const PATIENCE_MS = 5_000

/** Clients that repeat each request until it is answered, and record what they saw. */
export function createClient({ url, admin, random }: ClientOptions) {
  const exchanges: Exchange[] = []
  const revocations: Revocation[] = []
  const ticketUses: TicketUse[] = []
  const surprises: string[] = []
  const counts = { requests: 0 }
  /** The requests with a key that were accepted, which the judge repeats at the end. */
  const keyed = new Map<string, Ask>()
  let isOver = false

  const once = async (asked: Ask): Promise<Answer> => {
    const { method = 'POST', path, body, key, token = admin } = asked
    counts.requests++
    const sentAt = Date.now()
    const response = await fetch(url + path, {
      method,
      headers: {
        ...{ ...bearer(token.secret), 'x-forwarded-for': addressOf(token.name) },
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: method === 'GET' || method === 'DELETE' ? null : JSON.stringify(body ?? {}),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    const { status } = response
    const isReplayed = response.headers.get('idempotency-replayed') === 'true'
    const answer = { status, text, body: parse(text), isReplayed }
    if (!mayComeLater(answer)) {
      exchanges.push({ ...{ method, path, token: token.name, sentAt, status, text }, ...(key && { key }) })
    }
    return answer
  }

  /** Repeats the request until a node gives a final answer. */
  const ask = async (asked: Ask): Promise<Answer> => {
    for (let attempt = 0; !isOver; attempt++) {
      try {
        const answer = await once(asked)
        if (!mayComeLater(answer)) {
          const { method = 'POST', path, key, expected = [200, 201, 202, 204] } = asked
          if (!expected.includes(answer.status)) surprises.push(`${method} ${path}: ${answer.status} ${answer.text}`)
          if (key !== undefined && answer.status < 300) keyed.set(key, asked)
          return answer
        }
      } catch (error) {
        if (!isLostConnection(error)) throw error
      }
      await pause(random() * Math.min(500, 20 * 2 ** attempt))
    }
    throw new Error('the attack is over')
  }

  return {
    ...{ url, random, exchanges, revocations, ticketUses, surprises, counts, keyed, ask },
    between: (min: number, max: number) => min + Math.floor(random() * (max - min + 1)),
    get: (path: string) => ask({ method: 'GET', path }),

    /** Sends a request once, whatever becomes of it. */
    async tryOnce(asked: Ask) {
      await once(asked).catch((error: unknown) => {
        if (!isLostConnection(error)) throw error
      })
    },

    /** Polls until the run is over. */
    async untilOver(runId: string): Promise<Answer> {
      for (;;) {
        const answer = await ask({ method: 'GET', path: `/runs/${runId}/state` })
        if (answer.status !== 200 || ['completed', 'failed', 'aborted'].includes(answer.body.status)) return answer
        await pause(20 + random() * 80)
      }
    },

    /** Opens a socket with the ticket; resolves to whether the server answers on it, and closes it. */
    openSocket: (ticket: string, address: string): Promise<boolean> =>
      new Promise((resolve) => {
        const headers = { 'x-forwarded-for': addressOf(address) }
        const protocols = ['svc.protocol.v1', `ticket.${ticket}`]
        const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, protocols, { headers })
        const end = (isAccepted: boolean) => {
          clearTimeout(timer)
          resolve(isAccepted)
          socket.terminate()
        }
        const timer = setTimeout(end, PATIENCE_MS, false)
        socket.on('open', () =>
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })),
        )
        socket.on('message', (data) => end(parse(String(data)).result !== undefined))
        socket.on('error', () => end(false))
        socket.on('close', () => end(false))
      }),

    end() {
      isOver = true
    },
  }
}

/** The failed attempts of one token must not lock out the others. */
function addressOf(name: string): string {
  let hash = 7
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) % 0xff_ff_ff
  return `10.${hash >> 16}.${(hash >> 8) & 255}.${hash & 255}`
}

const parse = (text: string): Shown => JSON.parse(text.startsWith('{') ? text : '{}')

/** `agent-busy` too: the first request with the key holds its thread until its commit is answered. */
const mayComeLater = ({ status, text }: Answer): boolean =>
  status === 503 || (status === 409 && /"(idempotency-in-flight|agent-busy)"/.test(text))

const isLostConnection = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')
