import type { Operation } from '@perdure/protocol'
import { ORIGIN } from './app.fixture.ts'
import { sampleOf } from './sample.fixture.ts'

export interface RequestOptions {
  readonly headers?: Record<string, string> | undefined
  readonly body?: string | undefined
  readonly query?: string | undefined
  /** Of every parameter in the path but that of an agent. */
  readonly id?: string | undefined
  /** Of an agent in the path. */
  readonly agentId?: string | undefined
}

/** Bodies of the operations whose members must fit together. */
const BODIES: Readonly<Record<string, unknown>> = {
  'tokens.create': { name: 'ci', scopes: ['agents:read'] },
  'triggers.create': { id: 'nightly', kind: 'interval', intervalMs: 60_000, target: { agentId: 'echo' } },
}

/** The smallest valid request of an operation. */
export function toRequest(operation: Operation, options: RequestOptions): Request {
  const { headers, body, query, id = 'some-id', agentId = 'echo' } = options
  const { method } = operation
  const path = operation.path.replace(':agentId', agentId).replace(/:\w+/g, id)
  const members = new URLSearchParams(sampleOf(operation.query) as Record<string, string>)
  const url = `${ORIGIN}/v1${path}?${members}${query ?? ''}`
  if (method === 'GET') return new Request(url, { headers })
  const sent = body ?? JSON.stringify(BODIES[operation.id] ?? sampleOf(operation.body))
  return new Request(url, { method, body: sent, headers: { 'Content-Type': 'application/json', ...headers } })
}
