import { join } from 'node:path'
import { isRefusal, type McpEndpoint, type Timers } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { createMcpClient, type McpClientOptions } from './mcp-client.ts'

const fixture = (name: string) => join(import.meta.dirname, `${name}.fixture.ts`)

const timers: Timers = {
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs)
    return () => clearTimeout(timer)
  },
}

/** A client with a manual clock, so that no retry happens on its own; timeouts use real time. */
export function createTestClient(over: Partial<McpClientOptions> = {}) {
  const clock = createManualClock()
  const warnings: string[] = []
  const logger = {
    ...{ debug: () => undefined, info: () => undefined, error: () => undefined },
    warn: (message: string, fields?: object) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  }
  const client = createMcpClient({
    ...{ clock, timers, logger, version: '0.0.0', fetch: (url, init) => fetch(url, init) },
    ...{ connectTimeoutMs: 10_000, callTimeoutMs: 10_000, maxResultBytes: 100_000 },
    resolveSecret: async (reference) => {
      if (reference === 'env:KEY') return 'the-key'
      throw new Error(`${reference} is not set`)
    },
    ...over,
  })
  return { client, clock, warnings }
}

export const stdioServer = (id: string, over: Partial<Extract<McpEndpoint, { transport: 'stdio' }>> = {}) => ({
  ...({ transport: 'stdio', id, command: process.execPath, args: [fixture('tools-server')] } as const),
  ...{ env: {}, envRefs: {}, ...over },
})

export const rudeServer = (mode: string, pidFile = '') =>
  stdioServer(mode, { args: [fixture('rude-server'), mode, pidFile] })

export const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (isRefusal(error) ? error.code : error),
  )

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
