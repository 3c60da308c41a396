import { createInMemoryStorage } from '@perdure/in-memory'
import {
  type EpochMs,
  isRefusal,
  type McpCall,
  type McpClient,
  type McpEndpoint,
  type PageQuery,
  perdureError,
} from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { silentLogger } from '../engine/test-engine.fixture.ts'
import { createRecall } from '../idempotency/recall.ts'
import { createPhase } from '../lifecycle/phase.ts'
import { createMcp } from './mcp.ts'
import type { AllowedBindings } from './mcp-servers.ts'

export const ALICE = { subject: 'alice', scopes: [] }
export const KEY = { id: 'k'.repeat(64), fingerprint: 'f' }
export const PAGE: PageQuery = { limit: 50, order: 'asc' }
export const ALLOWED: AllowedBindings = {
  hosts: ['mcp.example', 'localhost:3000'],
  headersRefs: ['env:H', 'file:keys/a'],
}
export const WEB = { id: 'web', url: 'https://mcp.example/mcp' }
const STDIO: McpEndpoint = { transport: 'stdio', id: 'files', command: 'files', args: [], env: {}, envRefs: {} }

export const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (isRefusal(error) ? error.code : error),
  )

/** The use cases of MCP with a client that serves `files` and cannot reach `down`. */
export function createMcpWorld(over: { call?: McpClient['call'] } = {}) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const calls: [McpEndpoint, McpCall][] = []
  const log: string[] = []
  const mcpClient: McpClient = {
    tools: async ({ id }) => {
      log.push(`tools ${id}`)
      if (id === 'down') throw perdureError('mcp-server-unavailable')
      return ['b', 'a'].sort().map((name) => ({ name, inputSchema: {} }))
    },
    async call(endpoint, call) {
      calls.push([endpoint, call])
      return over.call?.(endpoint, call) ?? { ok: true, value: call.arguments }
    },
    status: (id) => (id === 'files' ? 'connected' : 'disconnected'),
    disconnect: async (id) => void log.push(`disconnect ${id}`),
    close: async () => undefined,
  }
  const phase = createPhase()
  phase.enter('ready')
  const parts = {
    configured: [
      { endpoint: STDIO },
      { endpoint: { ...STDIO, id: 'down' }, tokenExpiresAt: (clock.now() + 90_000) as EpochMs },
    ],
    ...{ mcpServers: storage.mcpServers, mcpClient, allowed: ALLOWED },
    ...{ timers: clock, logger: silentLogger },
  }
  const ids = createSequenceIds()
  const mcp = createMcp({
    ...{ ...parts, unitOfWork: storage.unitOfWork, clock, ids, phase, basePath: '/v1', idempotencyTtlMs: 86_400_000 },
  })
  const recall = createRecall({ idempotency: storage.idempotency, clock })
  return { ...mcp, parts, storage, clock, phase, calls, log, recall, ids }
}
