import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../packages/testkit/src/random.ts'
import {
  bearer,
  createPlace,
  createToken,
  type Place,
  type RunningServer,
  removeFolder,
  startServer,
} from '../perdure-process.ts'
import { inspectCopy } from './database-copy.ts'

export const SERVE = ['server', '--config', join(import.meta.dirname, '../fixtures/torture.config.mjs')]

/** What the suite reads of the answers; which fields are there depends on the route. */
export interface Shown {
  readonly id: string
  readonly runId: string
  readonly status: string
  readonly finishReason: string | null
  readonly result?: unknown
  readonly error?: unknown
  readonly attempt: number
  readonly fireId: string
  readonly token: string
  readonly title: string
  readonly text: string
  readonly value: string
  readonly ok: boolean
  readonly links: Readonly<Record<string, string>>
  readonly approvals?: readonly Shown[]
  readonly items: readonly Shown[]
  readonly waitingFor: readonly { readonly kind: string; readonly approvalId?: string }[]
  readonly nextCursor: string | null
  readonly eventId: string
  readonly type: string
  readonly checkpoint: { readonly seq: number }
  readonly action: string
  readonly target: string
  readonly decision: string
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** The Idempotency-Key; every repetition of the request carries it again. */
  readonly key?: string
  readonly token?: string
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly body: Shown
  readonly isReplayed: boolean
}

/** A request with a key that was answered whole, and every such answer that was ever read. */
export interface Kept {
  readonly ask: Ask
  readonly answers: Answer[]
  /** What was answered has been deleted since, with its session. */
  isGone: boolean
}

export interface WorldOptions {
  readonly seed: number
  readonly env?: NodeJS.ProcessEnv
  readonly place?: Place
  readonly start?: (place: Place) => Promise<RunningServer>
}

export type World = Awaited<ReturnType<typeof openWorld>>

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A server that dies and comes back on one file, and clients that ask for ever. */
export async function openWorld(options: WorldOptions) {
  const { seed, start = (place) => startServer(place, SERVE) } = options
  const place = options.place ?? createPlace(options.env)
  const databasePath = place.env.PERDURE_STORAGE_PATH ?? ''
  const token = await createToken(place)
  const random = createRandom(seed)
  const violations: string[] = []
  const kept = new Map<string, Kept>()
  /** Milliseconds from a kill to the first healthy answer. */
  const outages: number[] = []
  const counts = { requests: 0, acknowledged: 0, kills: 0 }
  let server = await start(place)
  let isOver = false

  const violate = (invariant: string, text: string) => {
    violations.push(`${invariant}: ${text}`)
  }

  const send = async ({ method = 'POST', path, body, key, token: other = token }: Ask): Promise<Answer> => {
    counts.requests++
    const response = await fetch(server.url + path, {
      method,
      headers: { ...bearer(other), ...(key === undefined ? {} : { 'idempotency-key': key }) },
      body: method === 'GET' || method === 'DELETE' ? null : JSON.stringify(body ?? {}),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    const isReplayed = response.headers.get('idempotency-replayed') === 'true'
    return { status: response.status, text, body: parse(text), isReplayed }
  }

  const keep = (ask: Ask, answer: Answer) => {
    if (answer.status >= 500) violate('I10', `${ask.method ?? 'POST'} ${ask.path} ${answer.status} ${answer.text}`)
    if (answer.status >= 300) return
    counts.acknowledged++
    if (ask.key === undefined) return
    const earlier = kept.get(ask.key)
    if (earlier === undefined) kept.set(ask.key, { ask, answers: [answer], isGone: false })
    else earlier.answers.push(answer)
  }

  return {
    ...{ place, databasePath, token, random, violations, violate, kept, outages, counts, seed },
    server: () => server,
    isOver: () => isOver,
    /** A whole number from `least` to `most`. */
    between: (least: number, most: number) => least + Math.floor(random() * (most - least + 1)),

    /** Repeats the request until the server answers it for good; the last answer, whatever its status. */
    async ask(ask: Ask): Promise<Answer> {
      for (let attempt = 0; !isOver; attempt++) {
        try {
          const answer = await send(ask)
          if (!mayComeLater(answer)) {
            keep(ask, answer)
            return answer
          }
        } catch (error) {
          if (!isLostConnection(error)) throw error
        }
        await pause(random() * Math.min(400, 20 * 2 ** attempt))
      }
      throw new Error('the world has ended')
    },

    /** From now on these keys are answered 404, because the session that their answers tell of was deleted. */
    expectGone(keys: readonly string[]) {
      for (const key of keys) {
        const one = kept.get(key)
        if (one !== undefined) one.isGone = true
      }
    },

    /** Kills the server and looks at a copy of what it left. */
    async kill(signal: NodeJS.Signals = 'SIGKILL') {
      counts.kills++
      await server.kill(signal)
      for (const finding of inspectCopy(databasePath)) violate('I6', finding)
    },

    /** Starts the next server on the file. */
    async start(how = start) {
      const before = performance.now()
      server = await how(place)
      for (;;) {
        const health = await fetch(`${server.url}/health`)
        await health.text()
        if (health.status === 200) break
        await pause(5)
      }
      outages.push(Math.round(performance.now() - before))
    },

    /** Waits for the server to end by itself. */
    async ended() {
      const child = server.process
      if (child.exitCode === null && child.signalCode === null) {
        await new Promise((resolve) => child.once('exit', resolve))
      }
      for (const finding of inspectCopy(databasePath)) violate('I6', finding)
      return { code: child.exitCode, signal: child.signalCode }
    },

    /** The lines that the effects of this name have left outside the database. */
    effects: createLedger(place.env.E2E_LEDGER ?? ''),

    /** Kills the server; what it leaves is removed when nothing was wrong with it. */
    async end({ isKept = violations.length > 0 } = {}) {
      isOver = true
      if (server.process.exitCode === null && server.process.signalCode === null) await server.kill('SIGKILL')
      if (!isKept) removeFolder(place.dir)
    },
  }
}

const parse = (text: string): Shown => JSON.parse(text.startsWith('{') ? text : '{}')

const mayComeLater = ({ status, text }: Answer): boolean =>
  status === 503 || (status === 409 && text.includes('"idempotency-in-flight"'))

const isLostConnection = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')

function createLedger(path: string) {
  let size = -1
  const lines = new Map<string, string[]>()
  return (name: string): readonly string[] => {
    const now = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (now !== size) {
      size = now
      lines.clear()
      const all = now === 0 ? [] : readFileSync(path, 'utf8').split('\n').slice(0, -1)
      for (const line of all) {
        const [of = ''] = line.split(' ')
        lines.set(of, [...(lines.get(of) ?? []), line])
      }
    }
    return lines.get(name) ?? []
  }
}
