export {
  createEventStreams,
  type EventStreams,
  type EventStreamsDeps,
  type OpenProjectedStreamRequest,
  type OpenReplayStreamRequest,
  type OpenStreamRequest,
} from './sse/event-streams.ts'
export type { ProjectedStart } from './sse/projected-blocks.ts'
export type { ProjectedEvent, ProjectedFrame, RunProjector } from './sse/run-projector.ts'
export type { Chat, ChatPeer, OpenChat } from './websocket/chat-connections.ts'
export { type ChatSocketsDeps, createChatSockets } from './websocket/chat-sockets.ts'
export { createConnectionLimits } from './websocket/connection-limits.ts'
export type { IncomingUpgrade, UpgradeSocket } from './websocket/incoming-upgrade.ts'
export type { SocketServer, Upgrade } from './websocket/socket-server.ts'
export type { WebSocketLimits } from './websocket/web-socket-limits.ts'
export { createWebSockets, type WebSocketsDeps } from './websocket/web-sockets.ts'
