import type { OperationTable } from '../operation.ts'
import { AiSdkRequest, AiSdkStreamQuery, UiMessages } from '../resources/ai-sdk.ts'
import { RunOutcome } from '../resources/runs.ts'
import { RUN_REFUSALS } from './agents.ts'
import { DECIDE } from './approvals.ts'
import { RUN_SIGHT } from './runs.ts'

const AI_SDK = {
  scope: 'agents:invoke:{agentId}',
  sight: RUN_SIGHT,
  dialect: 'ai-sdk',
} as const

/** The UI message stream of the AI SDK. */
export const aiSdkOperations = {
  sendChat: {
    ...AI_SDK,
    id: 'ai-sdk.send',
    mayNeed: DECIDE,
    method: 'POST',
    path: '/agents/:agentId/chat',
    idempotent: true,
    query: AiSdkStreamQuery,
    body: AiSdkRequest,
    responses: {
      200: { stream: 'event-stream', description: 'The answer as a UI message stream.' },
    },
    errors: [
      ...RUN_REFUSALS,
      'run-not-found',
      'run-not-suspended',
      'run-not-active',
      'approval-not-found',
      'approval-resolved',
      'overloaded',
    ],
    summary: 'Send the messages of an AI SDK chat, and stream the answer.',
  },
  streamChat: {
    ...AI_SDK,
    id: 'ai-sdk.stream',
    method: 'GET',
    path: '/agents/:agentId/chat/:chatId/stream',
    polls: true,
    idempotent: false,
    query: AiSdkStreamQuery,
    responses: {
      200: { stream: 'event-stream', description: 'The newest answer of the chat from its beginning, then live.' },
      204: { description: 'The chat has no answer to resume.' },
    },
    errors: ['agent-not-found', 'run-not-found', 'overloaded'],
    summary: 'Resume the stream of an AI SDK chat.',
  },
  listChatMessages: {
    ...AI_SDK,
    id: 'ai-sdk.messages',
    method: 'GET',
    path: '/agents/:agentId/chat/:chatId/messages',
    idempotent: false,
    responses: { 200: { schema: UiMessages, description: 'The messages, oldest first.' } },
    errors: ['agent-not-found'],
    summary: 'Read the messages of an AI SDK chat.',
  },
  stopChat: {
    ...AI_SDK,
    id: 'ai-sdk.stop',
    method: 'POST',
    path: '/agents/:agentId/chat/:chatId/stop',
    idempotent: true,
    responses: {
      200: { schema: RunOutcome, description: 'The active run of the chat is aborted.' },
      204: { description: 'The chat has no active run.' },
    },
    errors: ['agent-not-found', 'run-not-found', 'run-not-active', 'session-not-found', 'thread-not-found'],
    summary: 'Abort the active run of an AI SDK chat.',
  },
} as const satisfies OperationTable
