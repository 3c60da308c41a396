import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { Chat, ForkChatRequest, UpdateChatRequest } from '../resources/chats.ts'
import { listOf, PageEntries } from '../resources/list.ts'

const READ = { scope: 'agents:invoke:{agentId}', sight: ['sessions:read:{sessionId}'] } as const
const WRITE = { scope: 'agents:invoke:{agentId}', sight: ['sessions:write:{sessionId}'] } as const

export const chatOperations = {
  listChats: {
    ...READ,
    id: 'chats.list',
    method: 'GET',
    path: '/agents/:agentId/chats',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(Chat), description: 'The chats, by their newest message, newest first.' } },
    errors: ['agent-not-found'],
    summary: 'List the chats of an agent.',
  },
  getChat: {
    ...READ,
    id: 'chats.get',
    method: 'GET',
    path: '/agents/:agentId/chats/:chatId',
    idempotent: false,
    responses: { 200: { schema: Chat, description: 'The chat.' } },
    errors: ['session-not-found'],
    summary: 'Read what a list shows of one chat.',
  },
  updateChat: {
    ...WRITE,
    id: 'chats.update',
    method: 'PATCH',
    path: '/agents/:agentId/chats/:chatId',
    idempotent: true,
    body: UpdateChatRequest,
    responses: { 200: { schema: Chat, description: 'The updated chat.' } },
    errors: ['session-not-found'],
    summary: 'Rename a chat, or mark it as read.',
  },
  deleteChat: {
    ...WRITE,
    id: 'chats.delete',
    method: 'DELETE',
    path: '/agents/:agentId/chats/:chatId',
    idempotent: true,
    responses: { 204: { description: 'The session of the chat is deleted, after its active runs were aborted.' } },
    errors: ['session-not-found'],
    summary: 'Delete a chat and all its data.',
  },
  forkChat: {
    ...WRITE,
    id: 'chats.fork',
    method: 'POST',
    path: '/agents/:agentId/chats/:chatId/fork',
    idempotent: true,
    body: ForkChatRequest,
    responses: { 201: { schema: Chat, location: true, description: 'The new chat.' } },
    errors: ['session-not-found', 'session-exists'],
    summary: 'Copy a chat of the caller up to a message.',
  },
} as const satisfies OperationTable
