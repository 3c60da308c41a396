export {
  createEventStreams,
  type EventStreams,
  type EventStreamsDeps,
  type OpenProjectedStreamRequest,
  type OpenReplayStreamRequest,
  type OpenStreamRequest,
} from './event-streams.ts'
export type { ProjectedEvent, ProjectedFrame, ProjectedStart, RunProjector } from './projected-blocks.ts'
export type { WebSocketLimits } from './websocket/web-socket-limits.ts'
export { createWebSockets, type Upgrade, type WebSockets, type WebSocketsDeps } from './websocket/web-sockets.ts'
