/** Limits of a WebSocket, a token and the process. */
export interface WebSocketLimits {
  readonly maxConnections: number
  readonly maxConnectionsPerToken: number
  readonly maxSubscriptions: number // per connection
  readonly maxFrameBytes: number // per client message
  readonly maxMessages: number // per connection and `MESSAGE_WINDOW_MS`
  readonly heartbeatMs: number
  readonly maxUnsentBytes: number // if exceeded for the stall time, the connection is closed
  readonly maxUnsentBurstBytes: number // if exceeded at all, the connection is closed
}

export const MESSAGE_WINDOW_MS = 10_000
