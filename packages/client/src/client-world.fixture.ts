import type { ClientOptions, ConnectionChange } from './client-options.ts'
import { buildClient } from './create-client.ts'
import { createManualPace } from './manual-pace.fixture.ts'
import { createModelServer } from './model-server.fixture.ts'

/** A client connected to a model server, with a manual clock. */
export function createClientWorld(options: Partial<ClientOptions> = {}, pace = createManualPace()) {
  const server = createModelServer()
  const changes: ConnectionChange[] = []
  const client = buildClient(
    {
      baseUrl: 'http://server/v1',
      token: 'secret',
      fetch: server.fetch,
      WebSocket: server.WebSocket,
      onConnection: (change) => changes.push(change),
      ...options,
    },
    pace,
  )
  return { server, pace, client, changes }
}
