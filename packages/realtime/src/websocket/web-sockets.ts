import { canFollowAny } from '@perdure/core'
import { SUBPROTOCOL } from '@perdure/protocol'
import { type ConnectionsDeps, createConnections } from './connections.ts'
import { admit, CLOSE_NAMES, type CredentialDeps } from './credentials.ts'
import { readHandshake } from './handshake.ts'
import { createRenewCredential } from './renew-credential.ts'
import { createSocketServer, type SocketServer, type SocketServerDeps } from './socket-server.ts'

export type WebSocketsDeps = Omit<ConnectionsDeps, 'renewCredential'> & CredentialDeps & SocketServerDeps

/** The WebSockets that speak `svc.protocol.v1`. */
export function createWebSockets(deps: WebSocketsDeps): SocketServer {
  const renewCredential = createRenewCredential({
    ...{ ...deps, limits: deps.connectionLimits },
    onLost: (connection, loss) => connections.close(connection, CLOSE_NAMES[loss]),
  })
  const connections = createConnections({ ...deps, renewCredential })
  return createSocketServer(deps, {
    connections,
    maxFrameBytes: deps.limits.maxFrameBytes,
    readHandshake,
    admit: (shown) => admit(deps, shown, canFollowAny),
    selectProtocol: () => SUBPROTOCOL,
  })
}
