import type { KeyedRequest, Principal, Recall } from '@perdure/core'
import { canonicalJson, perdureError } from '@perdure/ports'
import type { ChatRuns } from '../chat/chat-session.ts'
import { type StoredFilesDeps, withStoredFiles } from '../chat/stored-files.ts'
import { runStartedBy, type TurnWithMessageDeps, turnWithMessage } from './turn-with-message.ts'
import { toChatMessage, toUiMessage, type UiMessage } from './ui-message.ts'

export interface SentBeforeDeps extends TurnWithMessageDeps, StoredFilesDeps {
  readonly recall: Recall
}

interface Sent {
  readonly message: UiMessage
  readonly principal: Pick<Principal, 'subject'>
  readonly key: KeyedRequest | undefined
}

/**
 * The run of a message that was sent before: the one that an earlier request with the same key has started, or else that
 * of the message with the same id, which is the identity of a message in its chat.
 *
 * @throws PerdureError `idempotency-conflict` if another message of the chat has the id
 */
export async function sentBefore(
  deps: SentBeforeDeps,
  chat: ChatRuns,
  { message, principal, key }: Sent,
): Promise<string | undefined> {
  if (message.id === '') return undefined
  const started = await runStartedBy(deps, chat, message.id)
  if (started === undefined) return undefined
  // The message may have been edited since the first request with this key.
  const recalled = key === undefined ? undefined : await deps.recall(key)
  if (recalled?.runId !== undefined) return recalled.runId
  const turn = await turnWithMessage(deps, chat, { id: message.id, runId: started.id })
  if (turn === undefined) return undefined
  // A file that is sent again has the URL of the stored one.
  const stored = await withStoredFiles(deps, [toChatMessage(message)], { principal, isChat: true })
  const sent = stored.map((one) => toUiMessage(one, message.id))
  const contentOf = ({ parts }: UiMessage) => (turn.isAsSent ? canonicalJson(parts) : textIn({ parts }))
  if (sent.every((one) => contentOf(one) === contentOf(turn.message))) {
    // A message that another run has taken keeps its own run, which has its receipt.
    return started.finishReason === 'joined' ? started.id : turn.id
  }
  throw perdureError('idempotency-conflict', {
    message: 'the chat has another message with this id',
    hint: 'send a new message with a new id; to edit a message, send its id as messageId',
  })
}

const textIn = ({ parts }: Pick<UiMessage, 'parts'>): string =>
  parts.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n\n')
