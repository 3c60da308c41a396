import { createServer, defineAgent } from 'perdure'
import { z } from 'zod'

// Every start uses a new pepper, which makes earlier tokens invalid.
// In production, keep one pepper: perdure secrets generate pepper
process.env.PERDURE_PEPPER ??= crypto.randomUUID()

const story = defineAgent({
  id: 'story',
  description: 'Tells a story, word by word.',
  input: z.object({ topic: z.string() }),
  async run({ topic }, ctx) {
    for (const word of ['Once', 'upon', 'a', topic]) await ctx.emit('story.word', { word })
  },
})

export const server = await createServer({
  config: { auth: { pepperRef: 'env:PERDURE_PEPPER' }, server: { basePath: '/ai/v1' }, log: { level: 'warn' } },
  agents: [story],
})
process.on('unhandledRejection', (error) => server.attribute(error) || process.exit(1))
server.fatal.then(() => process.exit(70))
await server.start({ listen: false })

/** Replace this with the session of your application. */
export const userOf = (cookie = ''): string | undefined => /session=(\w+)/.exec(cookie)?.[1]

/** Starts a story for a signed-in user, who may follow it over a WebSocket with the ticket. */
export async function startStory(user: string, input: { topic: string }) {
  const client = server.client({ subject: user, scopes: ['agents:invoke:story', 'runs:read:own'] })
  const { runId, subject } = await client.agents.start('story', { input })
  const { ticket } = await client.realtime.createWsTicket()
  return { runId, subject, ticket }
}

/** Lets executing runs finish and ends the streams, then closes the HTTP server. */
export function stopWith(host: { close(): unknown }): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await server.stop()
      await host.close()
    })
  }
}
