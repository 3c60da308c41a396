/** What one WebSocket, one token and the process may hold. */
export interface WebSocketLimits {
  readonly maxConnections: number
  readonly maxConnectionsPerToken: number
  readonly maxSubscriptions: number // of one connection
  readonly maxFrameBytes: number // of a client's message
  readonly maxMessages: number // of one client in 10 s
  readonly heartbeatMs: number
  readonly maxUnsentBytes: number // as long as the stall
  readonly maxUnsentBurstBytes: number // at once
}

export const MESSAGE_WINDOW_MS = 10_000
