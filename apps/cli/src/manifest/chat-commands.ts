import { Chat, listOf } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

const AGENT: ArgumentSpec = { name: 'agent', note: 'agent id' }
const CHAT: ArgumentSpec = { name: 'chat', note: 'chat id of your own client, or id of the session of any chat' }

export const chatCommands: readonly CommandSpec[] = [
  {
    path: 'chats list',
    summary: 'list the chats of an agent, by their newest message',
    ...READS,
    arguments: [AGENT],
    flags: PAGE_FLAGS,
    examples: ['perdure chats list support', 'perdure chats list support --json=chatId,title,unread'],
    schema: listOf(Chat),
    load: async () => (await import('../commands/chats-command.ts')).chatsListCommand,
  },
  {
    path: 'chats show',
    summary: 'show a chat, its newest message, and what it waits for',
    ...READS,
    arguments: [AGENT, CHAT],
    examples: ['perdure chats show support chat-1', 'perdure chats show support chat-1 --json=waitingFor'],
    schema: Chat,
    load: async () => (await import('../commands/chats-command.ts')).chatsShowCommand,
  },
  {
    path: 'chats rename',
    summary: 'give a chat a title; no other title replaces it',
    ...CHANGES,
    arguments: [AGENT, CHAT, { name: 'title', note: 'title, 1 to 512 characters' }],
    examples: [
      'perdure chats rename support chat-1 Parcels',
      'perdure chats rename support chat-1 "Lost parcel" --json',
    ],
    schema: Chat,
    load: async () => (await import('../commands/chats-command.ts')).chatsRenameCommand,
  },
  {
    path: 'chats delete',
    summary: 'delete a chat and all its data, after aborting its active runs',
    ...CHANGES,
    arguments: [AGENT, CHAT],
    examples: ['perdure chats delete support chat-1', 'perdure chats delete support chat-1 --json'],
    schema: v.object({ id: v.string(), deleted: v.literal(true) }),
    load: async () => (await import('../commands/chats-command.ts')).chatsDeleteCommand,
  },
]
