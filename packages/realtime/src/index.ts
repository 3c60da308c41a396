export {
  createEventStreams,
  type EventStreams,
  type EventStreamsDeps,
  type OpenProjectedStreamRequest,
  type OpenReplayStreamRequest,
  type OpenStreamRequest,
} from './event-streams.ts'
export type { ProjectedStart } from './projected-blocks.ts'
export type { ProjectedEvent, ProjectedFrame, RunProjector } from './run-projector.ts'
export type { WebSocketLimits } from './websocket/web-socket-limits.ts'
export { createWebSockets, type Upgrade, type WebSockets, type WebSocketsDeps } from './websocket/web-sockets.ts'
