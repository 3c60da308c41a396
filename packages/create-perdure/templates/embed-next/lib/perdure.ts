import { createServer, type PerdureServer } from 'perdure'
import { story } from '../agents/story.ts'

/** Starts Perdure without a port: route handlers pass requests to it. */
async function start(): Promise<PerdureServer> {
  // Every start uses a new pepper, which makes earlier tokens invalid. In production, set PERDURE_PEPPER to one that you keep.
  process.env.PERDURE_PEPPER ??= crypto.randomUUID()
  const server = await createServer({
    config: {
      auth: { pepperRef: 'env:PERDURE_PEPPER' },
      server: { basePath: '/ai/v1' },
      storage: { path: process.env.DATABASE_PATH ?? './.graphorin/data.db' },
      log: { level: 'warn' },
    },
    agents: [story],
  })
  process.on('unhandledRejection', (error) => server.attribute(error) || console.error(error))
  server.fatal.then(() => process.exit(70))
  await server.start({ listen: false })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => server.stop().then(() => process.exit(0)))
  }
  return server
}

declare global {
  /** Next.js evaluates modules more than once, but only one server can have the database open. */
  var startedPerdure: Promise<PerdureServer> | undefined
}

/** The server of this process, started by the first request. */
export function perdure(): Promise<PerdureServer> {
  globalThis.startedPerdure ??= start().catch((error: unknown) => {
    globalThis.startedPerdure = undefined // the next request tries again
    throw error
  })
  return globalThis.startedPerdure
}
