import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../packages/testkit/src/random.ts'
import {
  bearer,
  createSandbox,
  createToken,
  type RunningServer,
  removeFolder,
  type Sandbox,
  startServer,
} from '../perdure-process.ts'
import { inspectionOf } from './inspection.ts'

export const SERVE = ['server', '--config', join(import.meta.dirname, '../fixtures/torture.config.mjs')]

/** The response fields that the suite reads; which are present depends on the route. */
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
  /** The Idempotency-Key, sent with every repetition of the request. */
  readonly key?: string
  readonly token?: string
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly body: Shown
  readonly isReplayed: boolean
}

/** A request with a key that was answered, and every answer received for it. */
export interface RecordedRequest {
  readonly ask: Ask
  readonly answers: Answer[]
  /** Whether the subject of the answer has since been deleted, together with its session. */
  isGone: boolean
}

export interface WorldOptions {
  readonly seed: number
  readonly env?: NodeJS.ProcessEnv
  readonly sandbox?: Sandbox
  readonly start?: (sandbox: Sandbox) => Promise<RunningServer>
}

export type World = Awaited<ReturnType<typeof openWorld>>

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A server that is killed and restarted on one storage, and clients that repeat requests until they are answered. */
export async function openWorld(options: WorldOptions) {
  const { seed, start = (sandbox) => startServer(sandbox, SERVE) } = options
  const sandbox = options.sandbox ?? createSandbox(options.env)
  const databasePath = sandbox.env.PERDURE_STORAGE_PATH ?? ''
  const inspection = inspectionOf(sandbox)
  const token = await createToken(sandbox)
  const random = createRandom(seed)
  const violations: string[] = []
  const recorded = new Map<string, RecordedRequest>()
  /** Milliseconds from a kill to the first healthy answer. */
  const outages: number[] = []
  const counts = { requests: 0, acknowledged: 0, kills: 0 }
  let server = await start(sandbox)
  let isOver = false

  const violate = (invariant: string, text: string) => {
    violations.push(`${invariant}: ${text}`)
  }

  const inspect = async () => {
    for (const problem of await inspection.problems()) violate('I6', problem)
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

  const record = (ask: Ask, answer: Answer) => {
    if (answer.status >= 500) violate('I10', `${ask.method ?? 'POST'} ${ask.path} ${answer.status} ${answer.text}`)
    if (answer.status >= 300) return
    counts.acknowledged++
    if (ask.key === undefined) return
    const earlier = recorded.get(ask.key)
    if (earlier === undefined) recorded.set(ask.key, { ask, answers: [answer], isGone: false })
    else earlier.answers.push(answer)
  }

  return {
    ...{
      sandbox,
      databasePath,
      inspection,
      inspect,
      token,
      random,
      violations,
      violate,
      recorded,
      outages,
      counts,
      seed,
    },
    server: () => server,
    isOver: () => isOver,
    /** Returns a random integer from `min` to `max`. */
    between: (min: number, max: number) => min + Math.floor(random() * (max - min + 1)),

    /** Repeats the request until the server gives a final answer, and returns it whatever its status. */
    async ask(ask: Ask): Promise<Answer> {
      for (let attempt = 0; !isOver; attempt++) {
        try {
          const answer = await send(ask)
          if (!mayComeLater(answer)) {
            record(ask, answer)
            return answer
          }
        } catch (error) {
          if (!isLostConnection(error)) throw error
        }
        await pause(random() * Math.min(400, 20 * 2 ** attempt))
      }
      throw new Error('the torture run is over')
    },

    /** Expects 404 for these keys from now on, because the session of their answers was deleted. */
    expectGone(keys: readonly string[]) {
      for (const key of keys) {
        const one = recorded.get(key)
        if (one !== undefined) one.isGone = true
      }
    },

    /** Kills the server and inspects the data that it left. */
    async kill(signal: NodeJS.Signals = 'SIGKILL') {
      counts.kills++
      await server.kill(signal)
      await inspect()
    },

    /** Starts the next server on the same storage. */
    async start(how = start) {
      const before = performance.now()
      server = await how(sandbox)
      for (;;) {
        const health = await fetch(`${server.url}/health`)
        await health.text()
        if (health.status === 200) break
        await pause(5)
      }
      outages.push(Math.round(performance.now() - before))
    },

    /** Waits for the server to exit by itself. */
    async ended() {
      const child = server.process
      if (child.exitCode === null && child.signalCode === null) {
        await new Promise((resolve) => child.once('exit', resolve))
      }
      await inspect()
      return { code: child.exitCode, signal: child.signalCode }
    },

    /** Returns the ledger lines of the effects with this name, outside the database. */
    effects: createLedger(sandbox.env.E2E_LEDGER ?? ''),

    /** Kills the server; removes its files when there was no violation. */
    async end({ isKept = violations.length > 0 } = {}) {
      isOver = true
      if (server.process.exitCode === null && server.process.signalCode === null) await server.kill('SIGKILL')
      if (!isKept) removeFolder(sandbox.dir)
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
