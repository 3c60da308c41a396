import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { bearer, createSandbox, createToken, DURABLE_CONFIG, type Sandbox, startServer } from './perdure-process.ts'

/** The response fields that the tests read about runs; which are present depends on the route. */
export interface Shown {
  readonly id: string
  readonly runId: string
  readonly threadId: string
  readonly status: string
  readonly finishReason: string | null
  readonly result?: unknown
  readonly error?: unknown
  readonly message?: string
  readonly attempt: number
  readonly by?: string
  readonly name: string
  readonly checkpointId: string | null
  readonly createdAt: string
  readonly completedAt?: string
  readonly waitingFor: readonly Wait[]
  readonly steps: readonly { readonly seq: number; readonly name: string; readonly status: string }[]
  readonly wokenRunIds: readonly string[]
}

interface Wait {
  readonly kind: string
  readonly name?: string
  readonly approvalId?: string
  readonly dueAt?: string
}

export interface ShownEvent {
  readonly eventId: string
  readonly type: string
  readonly payload: { readonly step?: string; readonly status?: string; readonly seq?: number }
}

export interface ShownCheckpoint {
  readonly id: string
  readonly seq: number
  readonly step: string
  readonly result: unknown
}

export interface Answer<T = Shown> {
  readonly status: number
  readonly body: T
}

/** A server process on a sandbox that survives restarts, with shortcuts for the calls of the tests. */
export type DurableServer = Awaited<ReturnType<typeof startDurableServer>>

/**
 * @param env passed to the server; a change takes effect with the next start
 * @param onFinished registers what kills the server; by default at the end of the test
 */
export async function startDurableServer(
  config = DURABLE_CONFIG,
  env: NodeJS.ProcessEnv = {},
  onFinished: (kill: () => void) => void = onTestFinished,
) {
  const serve = ['server', '--config', config]
  const sandbox = createSandbox(env)
  const token = await createToken(sandbox)
  let server = await startServer(sandbox, serve)
  onFinished(() => void server.process.kill('SIGKILL'))

  const call = createCall(() => server.url, token)
  const get = <T = Shown>(path: string) => call<T>('GET', path)
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call('POST', path, { body, headers })
  const itemsOf = async <T>(path: string) => (await get<{ readonly items: readonly T[] }>(path)).body.items

  return {
    sandbox,
    token,
    url: () => server.url,
    ...{ call, get, post, itemsOf },
    execute: async (workflowId: string, threadId: string, input: unknown = {}) =>
      (await post(`/workflows/${workflowId}/execute`, { input, threadId })).body.runId,
    run: async (runId: string) => (await get(`/runs/${runId}`)).body,
    state: async (workflowId: string, threadId: string) =>
      (await get(`/workflows/${workflowId}/state?threadId=${threadId}`)).body,
    events: (runId: string) => itemsOf<ShownEvent>(`/runs/${runId}/events?limit=200`),
    checkpoints: (workflowId: string, threadId: string) =>
      itemsOf<ShownCheckpoint>(`/workflows/${workflowId}/checkpoints?threadId=${threadId}&order=asc`),
    approvals: (runId: string) => itemsOf<Shown>(`/approvals?status=pending&runId=${runId}`),
    resolve: (approvalId: string, approved: boolean, as = token) =>
      call('POST', `/approvals/${approvalId}/resolve`, { body: { approved }, token: as }),
    ledger: () => ledgerOf(sandbox),
    openGate: (gate: string) => writeFileSync(join(sandbox.dir, `gate-${gate}`), ''),
    kill: (signal: NodeJS.Signals) => server.kill(signal),
    async start() {
      server = await startServer(sandbox, serve)
    },
    async restart(signal: NodeJS.Signals = 'SIGKILL') {
      await server.kill(signal)
      server = await startServer(sandbox, serve)
    },
  }
}

export interface CallOptions {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly token?: string
}

/** Calls the API with this token unless a call names another one. */
export type Call = <T = Shown>(method: string, path: string, more?: CallOptions) => Promise<Answer<T>>

/** Longer than any answer takes, so that a request without an answer is named. */
const ANSWER_MS = 120_000

/** @param url the address of the API; it may change when the server restarts */
export const createCall =
  (url: () => string, token: string): Call =>
  async <T>(method: string, path: string, more: CallOptions = {}) => {
    const response = await fetch(`${url()}${path}`, {
      method,
      headers: { ...bearer(more.token ?? token), ...more.headers },
      body: more.body === undefined ? null : JSON.stringify(more.body),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T }
  }

export function ledgerOf({ env }: Sandbox): readonly string[] {
  const path = env.E2E_LEDGER ?? ''
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}

/** Repeats a call until its answer satisfies the assertion. */
export const eventually = <T>(ask: () => T): ReturnType<typeof expect.poll<T>> => expect.poll(ask, { interval: 20 })
