import type { ChatMessage, KeyedRequest, Recall } from '@perdure/core'
import { isRefusal } from '@perdure/ports'
import type { ChatCall } from './chat-call.ts'
import { type ClientKeyDeps, clientKey } from './client-key.ts'
import { earlierMessages } from './earlier-messages.ts'

export interface MessageClaimsDeps extends ClientKeyDeps {
  readonly recall: Pick<Recall, 'runOf'>
}

/** A message as the client sent it. */
export interface ClaimedMessage {
  readonly id?: string | undefined
  readonly role: string
  /** What a message that is sent again must not change. */
  readonly content: object
}

export interface MessageClaims {
  /** The identity of a message; `undefined` for one without an id. */
  of(message: ClaimedMessage): Promise<KeyedRequest | undefined>
  /** Whether an earlier request has taken the message. */
  isTaken(message: ClaimedMessage): Promise<boolean>
  /** The identities of those messages before the last one that the agent gets with it. */
  ofEarlier(messages: readonly ChatMessage[], sent: readonly ClaimedMessage[]): Promise<readonly KeyedRequest[]>
}

/** How many earlier messages of a request have an identity. */
const MAX_EARLIER = 100

/** The identities of the messages of one chat. */
export function messageClaims(
  deps: MessageClaimsDeps,
  call: ChatCall,
  { route, chatId }: { readonly route: string; readonly chatId: string },
): MessageClaims {
  const of = async ({ id = '', content }: ClaimedMessage) =>
    id === '' ? undefined : clientKey(deps, call, { route, chatId, ref: id, content })
  return {
    of,
    async isTaken(message) {
      const claim = await of(message)
      try {
        return claim !== undefined && (await deps.recall.runOf(claim)) !== undefined
      } catch (error) {
        // A page repeats what it shows, also if it shows another form of the message.
        if (isRefusal(error) && error.code === 'idempotency-conflict') return true
        throw error
      }
    },
    async ofEarlier(messages, sent) {
      const ids = new Set(earlierMessages(messages).map(({ id }) => id))
      ids.delete(messages.at(-1)?.id)
      const claims = new Map<string, KeyedRequest>()
      for (const message of sent) {
        const claim = ids.has(message.id) && claims.size < MAX_EARLIER ? await of(message) : undefined
        if (claim !== undefined) claims.set(claim.id, claim)
      }
      return [...claims.values()]
    },
  }
}
