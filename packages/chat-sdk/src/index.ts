export {
  type ChatBridge,
  type ChatBridgeHook,
  type ChatBridgeOptions,
  type ChatHook,
  chatBridge,
} from './bridge/chat-bridge.ts'
export type { ChatUser } from './bridge/chat-event.ts'
export type { ChatCaller, ChatServer } from './chat-server.ts'
export { type PerdureState, type PerdureStateOptions, perdureState } from './state/perdure-state.ts'
