import type { ListedChat, ListedRun } from '@perdure/ports'
import type { WaitingFor } from '../runs/run-outcome.ts'

/** What the turn of a chat does. */
export interface ChatWork {
  readonly run?: Pick<ListedRun<never>, 'id' | 'status'> | undefined
  readonly waitingFor: readonly WaitingFor[]
}

const isoOf = (at: number) => new Date(at).toISOString()

/** The chat as the API shows it. */
export const toChatResource = (chat: ListedChat, { run, waitingFor }: ChatWork) => {
  const { chatId, sessionId, agentId, owner, firstText, title, sessionTitle, lastMessage, lastSeq, createdAt } = chat
  return {
    ...{ chatId, sessionId, agentId, owner },
    title: sessionTitle ?? title ?? firstText,
    ...(lastMessage === undefined
      ? {}
      : { lastMessage: { role: lastMessage.role, text: lastMessage.text, seq: lastSeq, at: isoOf(lastMessage.at) } }),
    unread: chat.answerSeq > chat.readSeq,
    ...(run === undefined ? {} : { runId: run.id }),
    status: run?.status ?? ('idle' as const),
    waitingFor,
    createdAt: isoOf(createdAt),
    updatedAt: isoOf(chat.updatedAt),
  }
}

export type ChatResource = ReturnType<typeof toChatResource>
