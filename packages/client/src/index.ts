export type {
  ClientOptions,
  ConnectionChange,
  CredentialRequest,
  WebSocketConstructor,
  WebSocketLike,
} from './client-options.ts'
export { type ChatFetchOptions, createChatFetch } from './create-chat-fetch.ts'
export { createClient, type PerdureClient } from './create-client.ts'
export type { ListCall, Page } from './list-call.ts'
export type { Pace } from './pace.ts'
export { type ClientErrorCode, isPerdureError, PerdureError, type PerdureErrorCode } from './perdure-error.ts'
export { createRestClient } from './rest-client.ts'
export type { RestClient } from './rest-methods.ts'
export type { CallOptions } from './send-request.ts'
export { readSseBlocks, type SseBlock } from './sse-blocks.ts'
export { createSseClient, type SseClient } from './sse-client.ts'
export type { Event, Gap, SubscribeOptions, Subscription, SubscriptionItem } from './subscription.ts'
