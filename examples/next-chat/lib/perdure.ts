import type { PerdureServer } from 'perdure'
import { support } from '../support-agent.ts'

// Without a pepper of its own, every start makes earlier tokens invalid. This page uses none.
process.env.PERDURE_PEPPER ??= crypto.randomUUID()

async function start(): Promise<PerdureServer> {
  // Not bundled, wherever the package is: it loads native code and starts threads.
  const { createServer } = await import(/* turbopackIgnore: true */ 'perdure')
  const server = await createServer({
    config: {
      auth: { pepperRef: 'env:PERDURE_PEPPER' },
      server: { basePath: '/ai/v1' },
      runs: { perSubject: { maxPerDay: 200 } },
      log: { level: 'warn' },
    },
    agents: [support],
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
  var startedPerdure: Promise<PerdureServer> | undefined
}

/** Starts the server with the first request. Next.js evaluates modules more than once, but a process has one server. */
export function perdure(): Promise<PerdureServer> {
  globalThis.startedPerdure ??= start().catch((error: unknown) => {
    globalThis.startedPerdure = undefined
    throw error
  })
  return globalThis.startedPerdure
}
