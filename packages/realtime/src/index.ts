export { type FollowDeps, type FollowOptions, followEvents } from './follow.ts'
export { createRunStreams, type OpenRunStreamRequest, type RunStreams, type RunStreamsDeps } from './run-streams.ts'
export type { WebSocketLimits } from './websocket/web-socket-limits.ts'
export { createWebSockets, type Upgrade, type WebSockets, type WebSocketsDeps } from './websocket/web-sockets.ts'
