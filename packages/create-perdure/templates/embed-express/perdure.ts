import { createServer, type PerdureServer } from 'perdure'
import { story } from './agents/story.ts'

/** Starts Perdure without a port: the app passes the requests below /ai to it. */
export async function startPerdure(databasePath: string): Promise<PerdureServer> {
  // Every start uses a new pepper, which makes earlier tokens invalid. In production, set PERDURE_PEPPER to one that you keep.
  process.env.PERDURE_PEPPER ??= crypto.randomUUID()
  const perdure = await createServer({
    config: {
      auth: { pepperRef: 'env:PERDURE_PEPPER' },
      server: { basePath: '/ai/v1' },
      storage: { path: databasePath },
      log: { level: 'warn' },
    },
    agents: [story],
  })
  await perdure.start({ listen: false })
  return perdure
}
