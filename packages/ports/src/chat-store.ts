import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

/** The newest message of a chat. */
export interface ChatMessageBrief {
  readonly role: 'user' | 'assistant'
  readonly text: string // its beginning, on one line
  readonly at: EpochMs
}

/** A session that is a chat of one agent, and what a list of chats shows of it. */
export interface ChatRecord {
  readonly sessionId: string
  readonly chatId: string // as the client chose it
  readonly agentId: string
  readonly owner: string // of the session
  readonly firstText: string // the beginning of the first message; empty if it has no text
  readonly title?: string | undefined // what the agent has called the chat
  readonly lastMessage?: ChatMessageBrief | undefined
  readonly lastSeq: number // of the newest message; 0 without messages
  readonly answerSeq: number // of the newest message of the assistant; 0 without one
  readonly readSeq: number // of the newest message that the owner has read; 0 without one
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs // of the newest message
}

/** A chat as a list shows it, with the present state of its session. */
export interface ListedChat extends ChatRecord {
  readonly sessionTitle?: string | undefined
  readonly workingRunId?: string | undefined // the oldest turn of the agent that has not ended
}

export type NewChat = Omit<ChatRecord, 'lastMessage' | 'lastSeq' | 'answerSeq' | 'readSeq' | 'updatedAt'>

export interface ChatChange {
  readonly title?: string | undefined
  /** Position of the last message that the owner has read; `'all'`, or `'not-answer'` for none of the newest answer. */
  readonly read?: number | 'all' | 'not-answer' | undefined
}

/** The writes of chats. `message.append` changes the newest message too. */
export type ChatWrite =
  /**
   * Makes the session a chat. A no-op, and a count of 0, if it is a chat of this agent already. Conflicts, with `current`, if
   * it is a chat of another agent, and without it if there is no such session.
   */
  | { readonly type: 'chat.insert'; readonly chat: NewChat }
  /**
   * Changes what the list shows; a missing member stays unchanged. Never conflicts; its count is 0 if the session is not
   * a chat. A position is at most that of the newest message.
   */
  | { readonly type: 'chat.change'; readonly sessionId: string; readonly change: ChatChange }
  /**
   * Shows this message as the newest one, or none, after the message at `from` was edited or withdrawn. Never conflicts; a
   * no-op, and a count of 0, if another message is the newest one by now. `updatedAt` and what was read stay unchanged.
   */
  | {
      readonly type: 'chat.last'
      readonly sessionId: string
      readonly from: number
      readonly last: (ChatMessageBrief & { readonly seq: number }) | undefined
    }

export interface ChatWriteConflict {
  readonly type: 'chat.insert'
  readonly current?: ChatRecord | undefined
}

export interface ChatFilter {
  readonly agentId: string
}

/** Port. Reads chats; every write goes through `UnitOfWork`. Must pass `chatStoreContract`. */
export interface ChatStore {
  /** Finds the chat by the id of its session. */
  find(sessionId: string, visibility: Visibility): Promise<ListedChat | undefined>
  /** Lists the visible chats of an agent, ordered by `updatedAt` (ties by the id of the session). Reads no message. */
  list(filter: ChatFilter, page: PageQuery, visibility: Visibility): Promise<Page<ListedChat>>
}
