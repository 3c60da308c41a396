import type { PerdureClient } from '@perdure/client'

/** The caller of a server inside its process. */
export interface ChatCaller {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly name?: string | undefined
}

/** The part of a server that chats use; the hook `onReady` of the configuration gets the whole one. */
export interface ChatServer {
  client(caller: ChatCaller): PerdureClient
}
