import { id, oneLine, pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import type { ArgumentSpec, CommandGroup } from './command-spec.ts'
import { answers, deletes, lists } from './operation-rows.ts'

const AGENT: ArgumentSpec = { name: 'agent', note: 'agent id' }

const CHAT: ArgumentSpec = { name: 'chat', note: 'chat id of your own client, or id of the session of any chat' }

export const chatsCommands: CommandGroup = {
  summary: 'list, rename and delete the chats of an agent',
  commands: [
    lists('chats.list', {
      path: 'chats list',
      summary: 'list the chats of an agent, by their newest message',
      arguments: [AGENT],
      examples: ['perdure chats list support', 'perdure chats list support --json=chatId,title,unread'],
      columns: {
        CHAT: id('chatId'),
        TITLE: 'title',
        OWNER: 'owner',
        STATUS: ({ status, unread }) => (unread ? `${status}, unread` : status),
        UPDATED: ({ updatedAt }) => relativeText(updatedAt),
        'LAST MESSAGE': ({ lastMessage }) => oneLine(lastMessage?.text ?? ''),
      },
    }),
    answers('chats.get', {
      path: 'chats show',
      summary: 'show a chat, its newest message, and what it waits for',
      arguments: [AGENT, CHAT],
      examples: ['perdure chats show support chat-1', 'perdure chats show support chat-1 --json=waitingFor'],
      text: ({ lastMessage, waitingFor, ...shown }, _, paint) => {
        const waits = waitingFor.map(({ kind, name = '', approvalId = '' }) => `${kind} ${name} ${approvalId}`.trim())
        const more = { lastMessage: lastMessage?.text ?? '', waitingFor: waits.join(', ') }
        return pairsText(Object.entries({ ...shown, ...more }), paint)
      },
    }),
    answers('chats.update', {
      path: 'chats rename',
      summary: 'give a chat a title; no other title replaces it',
      arguments: [AGENT, CHAT, { name: 'title', note: 'title, 1 to 512 characters' }],
      examples: [
        'perdure chats rename support chat-1 Parcels',
        'perdure chats rename support chat-1 "Lost parcel" --json',
      ],
      input: ({ title }: { readonly title: string }) => ({ title }),
      text: ({ title }, { chat }: { readonly chat: string }) => `renamed ${chat} to ${title}\n`,
    }),
    deletes('chats.delete', {
      path: 'chats delete',
      summary: 'delete a chat and all its data, after aborting its active runs',
      arguments: [AGENT, CHAT],
      examples: ['perdure chats delete support chat-1', 'perdure chats delete support chat-1 --json'],
    }),
  ],
}
