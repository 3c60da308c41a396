export {
  type ClientErrorCode,
  isPerdureError,
  PerdureError,
  type PerdureErrorCode,
  type PerdureErrorDetails,
} from '@perdure/protocol/error'
export type {
  ClientOptions,
  ConnectionChange,
  CredentialRequest,
  Transport,
  WebSocketConstructor,
  WebSocketLike,
} from './client-options.ts'
export type { ConfiguredGroups, StreamMethods } from './configured-methods.ts'
export { type ChatFetchOptions, createChatFetch } from './create-chat-fetch.ts'
export { createClient, type PerdureClient } from './create-client.ts'
export { type EventOf, type EventPayloads, type EventType, isEvent } from './event-of-type.ts'
export type { ListCall, Page } from './list-call.ts'
export type { UntypedRestClient } from './rest-methods.ts'
export type { ResumeOptions } from './resuming-fetch.ts'
export type { FollowOptions, RunEvents, RunStream, StreamOptions } from './run-events.ts'
export type { CallOptions, FileContent } from './send-request.ts'
export type { Event, Gap, SubscribeOptions, Subscription, SubscriptionItem } from './subscription.ts'
