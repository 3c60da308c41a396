// Type-checked in strict mode against the package declarations; never run.
import { createClient } from '@perdure/client'
import { classifyProviderResponse, createEngine, type RunContext, ToolError } from '@perdure/core'
import { createHttpApp, type HttpAppDeps } from '@perdure/http'
import { createInMemoryStorage } from '@perdure/in-memory'
import { foldLog } from '@perdure/interop'
import { createMcpClient } from '@perdure/mcp'
import { systemClock } from '@perdure/platform-node'
import type { Storage, UnitOfWork, Write } from '@perdure/ports'
import { openPostgresStorage } from '@perdure/postgres'
import { type ErrorCode, OPERATIONS } from '@perdure/protocol'
import { createEventStreams } from '@perdure/realtime'
import { createServer, defineConfig } from '@perdure/server-app'
import { openSqliteStorage } from '@perdure/sqlite'
import { storageContract } from '@perdure/testkit'

export const config = defineConfig({
  server: { port: 8080 },
  agents: [
    {
      id: 'greet',
      description: 'Greets.',
      agent: {
        id: 'greet',
        async run(input: unknown, context: RunContext) {
          const known = await context.step('look up', () => ({ name: String(input) }))
          await context.emit('greet.begun', known)
          return { greeting: `Hello ${known.name}` }
        },
      },
    },
  ],
})

// @ts-expect-error a port is a number
defineConfig({ server: { port: '8080' } })

export const client = createClient({ baseUrl: 'http://127.0.0.1:8080/v1', token: 'a token' })
export const status = async (): Promise<string> => (await client.agents.run('greet', { input: 'Ann' })).status

export const code: ErrorCode = 'agent-busy'
// @ts-expect-error no such code
export const none: ErrorCode = 'agent-lazy'

export const storage: Storage = createInMemoryStorage()
export const write: Write = { type: 'session.touch', id: 'ses-1', at: systemClock.now() }
export const unitOfWork: UnitOfWork = storage.unitOfWork
export type Deps = HttpAppDeps
export const everything = [
  ...[
    createEngine,
    createHttpApp,
    createMcpClient,
    createEventStreams,
    createServer,
    openSqliteStorage,
    openPostgresStorage,
    foldLog,
  ],
  ...[storageContract, OPERATIONS, classifyProviderResponse, ToolError],
]
