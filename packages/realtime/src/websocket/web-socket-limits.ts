/** Limits of a WebSocket, a token and the process. */
export interface WebSocketLimits {
  readonly maxConnections: number
  readonly maxConnectionsPerToken: number
  readonly maxSubscriptions: number // per connection
  readonly maxFrameBytes: number // per client message
  readonly maxMessages: number // per connection and `MESSAGE_WINDOW_MS`
  readonly heartbeatMs: number
  readonly maxUnsentBytes: number // the connection is closed if it exceeds this for the stall time
  readonly maxUnsentBurstBytes: number // the connection is closed as soon as it exceeds this
}

export const MESSAGE_WINDOW_MS = 10_000
