import type { ChatMessage, ChatPart, Principal, StoreDataUrl } from '@perdure/core'
import { checkParts } from './chat-input.ts'

export interface StoredFilesDeps {
  readonly storeDataUrl: StoreDataUrl
}

export interface FilesOwner {
  readonly principal: Pick<Principal, 'subject'>
  /** A chat keeps its messages; without one, only the run of this request sees them. */
  readonly isChat: boolean
  /** The session of the chat, if it is stored already. */
  readonly sessionId?: string | undefined
}

/** Without a chat, smaller contents stay in the input of the run, because no session would hold their files. */
const MAX_IN_INPUT = 64 * 1_024

/**
 * Replaces the `data:` URLs of files by the URLs of stored files, so that neither the input of a run nor the event log
 * holds their contents. Refuses messages with too many parts before it stores anything.
 *
 * @throws PerdureError `body-too-large`, `file-quota-exceeded`, `validation-failed`
 */
export async function withStoredFiles(
  { storeDataUrl }: StoredFilesDeps,
  messages: readonly ChatMessage[],
  { principal, isChat, sessionId }: FilesOwner,
): Promise<readonly ChatMessage[]> {
  checkParts(messages)
  const isStored = (part: ChatPart) =>
    part.type === 'file' && /^data:/i.test(part.url) && (isChat || part.url.length > MAX_IN_INPUT)
  if (!messages.some(({ content }) => content.some(isStored))) return messages
  const stored: ChatMessage[] = []
  for (const message of messages) {
    const content: ChatPart[] = []
    for (const part of message.content) {
      if (part.type !== 'file' || !isStored(part)) content.push(part)
      else {
        const { url, name } = part
        content.push({ ...part, ...(await storeDataUrl({ url, name, owner: principal.subject, sessionId })) })
      }
    }
    stored.push({ ...message, content })
  }
  return stored
}
