import type { Call } from '../call.ts'
import { oneLine, pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

export interface ChatsListFlags extends PageFlags {
  readonly agent: string
}

export interface ChatFlags {
  readonly agent: string
  readonly chat: string
}

export async function chatsListCommand(call: Call, flags: ChatsListFlags): Promise<void> {
  const now = Date.now()
  const page = await readPage(call.client().chats.list(flags.agent, pageQuery(flags)), flags)
  call.out.list(page, [
    { head: 'CHAT', cell: ({ chatId }) => chatId, isId: true },
    { head: 'TITLE', cell: ({ title }) => title },
    { head: 'OWNER', cell: ({ owner }) => owner },
    { head: 'STATUS', cell: ({ status, unread }) => (unread ? `${status}, unread` : status) },
    { head: 'UPDATED', cell: ({ updatedAt }) => relativeText(updatedAt, now) },
    { head: 'LAST MESSAGE', cell: ({ lastMessage }) => oneLine(lastMessage?.text ?? '') },
  ])
}

export async function chatsShowCommand(call: Call, { agent, chat: id }: ChatFlags): Promise<void> {
  const chat = await call.client().chats.get(agent, id)
  call.out.document(chat, (paint) => {
    const { lastMessage, waitingFor, ...shown } = chat
    const waits = waitingFor.map(({ kind, name = '', approvalId = '' }) => `${kind} ${name} ${approvalId}`.trim())
    const more = { lastMessage: lastMessage?.text ?? '', waitingFor: waits.join(', ') }
    return pairsText(Object.entries({ ...shown, ...more }), paint)
  })
}

export async function chatsRenameCommand(call: Call, { agent, chat: id, title }: ChatFlags & { title: string }) {
  const chat = await call.client().chats.update(agent, id, { title })
  call.out.document(chat, () => `renamed ${id} to ${chat.title}\n`)
}

export async function chatsDeleteCommand(call: Call, { agent, chat: id }: ChatFlags): Promise<void> {
  await call.client().chats.delete(agent, id)
  call.out.document({ id, deleted: true }, () => `deleted ${id}\n`)
}
