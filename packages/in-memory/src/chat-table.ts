import type { ChatRecord, ChatStore, ListedChat, MessageBrief, MessageRecord, RunRecord } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { takePage } from './ordered-page.ts'
import { isVisible } from './row-visibility.ts'
import type { SessionBelongings } from './session-deletion.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export interface ChatTable extends Table<ChatStore, WritesOf<'chat'>>, SessionBelongings {
  /** Makes the message the newest one of the chat, if the session is a chat of the agent. */
  note(message: MessageRecord, brief: MessageBrief, undo: UndoLog): void
}

export interface ChatTableDeps {
  /** `undefined` if there is no such session. */
  titleOf(sessionId: string): { readonly title?: string | undefined } | undefined
  runsOf(sessionId: string): readonly RunRecord[]
}

export function createChatTable({ titleOf, runsOf }: ChatTableDeps): ChatTable {
  const chats = new Map<string, ChatRecord>()

  const isSeen = ({ sessionId: id, owner, agentId }: ChatRecord, visibility: Parameters<ChatStore['find']>[1]) =>
    isVisible({ id, owner, agentId }, visibility)

  const listed = (chat: ChatRecord): ListedChat => {
    const working = runsOf(chat.sessionId).find((run) => isWorkingTurn(run, chat.agentId))
    return { ...chat, sessionTitle: titleOf(chat.sessionId)?.title, workingRunId: working?.id }
  }

  return {
    store: {
      async find(sessionId, visibility) {
        const chat = chats.get(sessionId)
        return chat !== undefined && isSeen(chat, visibility) ? listed(chat) : undefined
      },
      async list({ agentId }, page, visibility) {
        const records = [...chats.values()]
          .filter((chat) => chat.agentId === agentId)
          .sort((one, other) => one.updatedAt - other.updatedAt || (one.sessionId < other.sessionId ? -1 : 1))
        const ordered = {
          records,
          sortKeyOf: ({ updatedAt, sessionId }: ChatRecord) => [updatedAt, sessionId] as const,
        }
        return takePage(ordered, page, { matches: (chat) => isSeen(chat, visibility), show: listed })
      },
    },
    appliers: {
      'chat.insert'({ type, chat }, { undo }) {
        if (titleOf(chat.sessionId) === undefined) return { type }
        const current = chats.get(chat.sessionId)
        if (current !== undefined) return current.agentId === chat.agentId ? 0 : { type, current }
        const positions = { lastSeq: 0, answerSeq: 0, readSeq: 0 }
        putEntry(chats, [chat.sessionId, Object.freeze({ ...chat, ...positions, updatedAt: chat.createdAt })], undo)
        return 1
      },
      'chat.change'({ sessionId, change: { title, read } }, { undo }) {
        const chat = chats.get(sessionId)
        if (chat === undefined) return 0
        const changed = { ...chat, title: title ?? chat.title, readSeq: readSeqAfter(chat, read) }
        putEntry(chats, [sessionId, Object.freeze(changed)], undo)
        return 1
      },
      'chat.last'({ sessionId, from, last }, { undo }) {
        const { lastMessage: _, ...chat } = chats.get(sessionId) ?? { lastSeq: -1 }
        if (!('chatId' in chat) || chat.lastSeq !== from) return 0
        const { seq = 0, ...lastMessage } = last ?? {}
        const changed = { ...chat, lastSeq: seq, ...(last === undefined ? {} : { lastMessage }) }
        putEntry(chats, [sessionId, Object.freeze(changed as ChatRecord)], undo)
        return 1
      },
    },
    note({ sessionId, seq, role, createdAt: at }, { agentId, text }, undo) {
      const chat = chats.get(sessionId)
      if (chat?.agentId !== agentId) return
      const updatedAt = at > chat.updatedAt ? at : chat.updatedAt
      const answerSeq = role === 'assistant' ? seq : chat.answerSeq
      const changed = { ...chat, lastMessage: { role, text, at }, lastSeq: seq, answerSeq, updatedAt }
      putEntry(chats, [sessionId, Object.freeze(changed)], undo)
    },
    removeSession: (sessionId, undo) => putEntry(chats, [sessionId, undefined], undo),
  }
}

const isWorkingTurn = ({ kind, targetId, parentRunId, withdrawnBy, status }: RunRecord, agentId: string): boolean =>
  kind === 'agent' &&
  targetId === agentId &&
  parentRunId === undefined &&
  withdrawnBy === undefined &&
  !isTerminal(status)

function readSeqAfter({ readSeq, answerSeq, lastSeq }: ChatRecord, read: number | 'all' | 'not-answer' | undefined) {
  if (read === 'not-answer') return answerSeq > 0 ? Math.min(readSeq, answerSeq - 1) : readSeq
  return read === undefined ? readSeq : read === 'all' ? lastSeq : Math.min(read, lastSeq)
}
