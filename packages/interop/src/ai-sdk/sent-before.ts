import type { Principal } from '@perdure/core'
import { canonicalJson, perdureError } from '@perdure/ports'
import type { ChatRuns } from '../chat/chat-session.ts'
import { type StoredFilesDeps, withStoredFiles } from '../chat/stored-files.ts'
import { type TurnWithMessageDeps, turnWithMessage } from './turn-with-message.ts'
import { toChatMessage, toUiMessage, type UiMessage } from './ui-message.ts'

/**
 * The turn that shows the message already: the id of a message is its identity in the chat, whatever the
 * Idempotency-Key of its request.
 *
 * @throws PerdureError `idempotency-conflict` if another message of the chat has the id
 */
export async function sentBefore(
  deps: TurnWithMessageDeps & StoredFilesDeps,
  chat: ChatRuns,
  { message, principal }: { readonly message: UiMessage; readonly principal: Pick<Principal, 'subject'> },
): Promise<string | undefined> {
  if (message.id === '') return undefined
  const turn = await turnWithMessage(deps, chat, { id: message.id, namedRun: undefined })
  if (turn === undefined) return undefined
  // A file that is sent again has the URL of the stored one.
  const stored = await withStoredFiles(deps, [toChatMessage(message)], { principal, isChat: true })
  const sent = stored.map((one) => toUiMessage(one, message.id))
  const contentOf = ({ parts }: UiMessage) => (turn.isAsSent ? canonicalJson(parts) : textIn({ parts }))
  if (sent.every((one) => contentOf(one) === contentOf(turn.message))) return turn.id
  throw perdureError('idempotency-conflict', {
    message: 'the chat has another message with this id',
    hint: 'send a new message with a new id; to edit a message, send its id as messageId',
  })
}

const textIn = ({ parts }: Pick<UiMessage, 'parts'>): string =>
  parts.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n\n')
