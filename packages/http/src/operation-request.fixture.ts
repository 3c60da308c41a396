import type { Operation } from '@perdure/protocol'
import { ORIGIN } from './app.fixture.ts'
import { sampleOf } from './sample.fixture.ts'

export interface RequestOptions {
  readonly headers?: Record<string, string> | undefined
  readonly body?: string | undefined
  readonly query?: string | undefined
  /** Value of every path parameter except the agent id. */
  readonly id?: string | undefined
  /** Value of the agent id in the path. */
  readonly agentId?: string | undefined
}

/** Bodies whose members depend on each other, by operation; they cannot be derived from the schema alone. */
const BODIES: Readonly<Record<string, unknown>> = {
  'openai.chat-completion': { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] },
  'openai.create-response': { model: 'echo', input: 'Hi' },
  'console.sign-in': { code: 'some-code' },
  'tokens.create': { name: 'ci', scopes: ['agents:read'] },
  'triggers.create': { id: 'nightly', kind: 'interval', intervalMs: 60_000, target: { agentId: 'echo' } },
}

/** Builds the smallest valid request of an operation. */
export function toRequest(operation: Operation, options: RequestOptions): Request {
  const { headers, body, query, id = 'some-id', agentId = 'echo' } = options
  const { method } = operation
  const path = operation.path.replace(':agentId', agentId).replace(':subject', 'jwt:app:alice').replace(/:\w+/g, id)
  const members = new URLSearchParams(sampleOf(operation.query) as Record<string, string>)
  const url = `${ORIGIN}/v1${path}?${members}${query ?? ''}`
  if (method === 'GET') return new Request(url, { headers })
  const sent = body ?? JSON.stringify(BODIES[operation.id] ?? sampleOf(operation.body))
  return new Request(url, { method, body: sent, headers: { 'Content-Type': 'application/json', ...headers } })
}
