import { createInMemoryStorage } from '@perdure/in-memory'
import type { Logger } from '@perdure/ports'
import { onTestFinished } from 'vitest'
import { createServer } from '../create-server.ts'
import type { ServerOptions } from '../server-options.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
process.env.TEST_PEPPER = 'x'.repeat(32)
export const WITH_TOKENS = { kind: 'token', pepperRef: 'env:TEST_PEPPER' } as const
export const ADMIN = { subject: 'owner', scopes: ['admin:*'] }

/** Creates a server with the agents `echo` and `slow`. It is stopped after the test. */
export async function makeServer({ config, ...rest }: ServerOptions = {}) {
  const server = await createServer({
    config: { auth: { kind: 'none' }, ...config, server: { port: 1, ...config?.server } },
    adapters: { storage: createInMemoryStorage(), logger },
    agents: [
      { id: 'echo', description: 'Answers its input.', agent: { id: 'echo', run: async (input) => input } },
      {
        id: 'slow',
        description: 'Ends when it is aborted.',
        agent: {
          id: 'slow',
          run: (_, { signal }) =>
            new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        },
      },
    ],
    ...rest,
  })
  onTestFinished(() => server.stop({ force: true }))
  return server
}

export async function startedServer(options?: ServerOptions) {
  const server = await makeServer(options)
  await server.start({ listen: false })
  return server
}

/** A request that runs the agent `echo`. */
export const echoRequest = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(`http://localhost${path}/agents/echo/run`, {
    method: 'POST',
    body: JSON.stringify({ input: 'hi' }),
    headers: { 'content-type': 'application/json', ...headers },
  })
