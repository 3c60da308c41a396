import * as v from 'valibot'
import { errorLine } from '../../error-line.ts'
import type { OperationTable } from '../../operation.ts'
import { RUN_REFUSALS } from '../../operations/agents.ts'
import { DECIDE, DECISION_REFUSALS } from '../../operations/approvals.ts'
import { RUN_SIGHT } from '../../operations/runs.ts'
import { listOf, PageEntries } from '../../resources/list.ts'
import { QueuedMessage } from '../../resources/queued-messages.ts'
import { RunOutcome } from '../../resources/run-outcome.ts'
import type { Protocol } from '../protocol.ts'
import * as schemas from './schemas.ts'
import { AiSdkRequest, AiSdkResumeQuery, AiSdkSocketQuery, AiSdkStreamQuery, UiMessages } from './schemas.ts'

const AI_SDK = {
  scope: 'agents:invoke:{agentId}',
  sight: RUN_SIGHT,
} as const

const operations = {
  sendChat: {
    ...AI_SDK,
    id: 'ai-sdk.send',
    mayNeed: DECIDE,
    method: 'POST',
    path: '/agents/:agentId/chat',
    idempotent: true,
    query: AiSdkStreamQuery,
    body: AiSdkRequest,
    acceptsText: true,
    sendsHistory: true,
    responses: {
      200: { stream: 'event-stream', description: 'The answer as a UI message stream.' },
    },
    errors: [
      ...RUN_REFUSALS,
      'file-quota-exceeded',
      'run-not-found',
      'run-not-suspended',
      'run-not-active',
      ...DECISION_REFUSALS,
      'overloaded',
    ],
    summary: 'Send the messages of an AI SDK chat, and stream the answer.',
  },
  openChatSocket: {
    ...AI_SDK,
    id: 'ai-sdk.open-ws',
    method: 'GET',
    path: '/agents/:agentId/chat',
    idempotent: false,
    query: AiSdkSocketQuery,
    responses: { 101: { stream: 'websocket', description: 'The connection speaks the protocol of the transport.' } },
    errors: ['validation-failed', 'cors-denied', 'agent-not-found', 'overloaded', 'server-draining'],
    summary: 'Open a WebSocket for `WebSocketChatTransport` of the AI SDK.',
  },
  streamChat: {
    ...AI_SDK,
    id: 'ai-sdk.stream',
    method: 'GET',
    path: '/agents/:agentId/chat/:chatId/stream',
    polls: true,
    idempotent: false,
    query: AiSdkResumeQuery,
    responses: {
      200: {
        stream: 'event-stream',
        description:
          'The newest answer of the chat, or the answer of the run, then live. With `startIndex`, from that chunk; a negative index counts from the newest chunk.',
      },
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
  listChatQueue: {
    ...AI_SDK,
    id: 'ai-sdk.queue',
    method: 'GET',
    path: '/agents/:agentId/chat/:chatId/queue',
    idempotent: false,
    query: v.strictObject({ ...PageEntries, order: v.optional(v.picklist(['asc', 'desc']), 'asc') }),
    responses: {
      200: { schema: listOf(QueuedMessage), description: 'The messages that wait, in the order of their turns.' },
    },
    errors: ['agent-not-found'],
    summary: 'List the messages of an AI SDK chat that wait for the agent.',
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

export const aiSdk = {
  group: 'ai-sdk',
  summary: 'Chats of the AI SDK: `useChat` and the transports of the SDK work with every agent.',
  mounts: 'Mount the AI SDK routes of each agent, below `/agents/:agentId/chat`.',
  operations,
  schemas,
  headers: { read: ['X-Workflow-Run-Id', 'X-Workflow-Stream-Tail-Index'] },
  // The client shows the body as the text of its error.
  errorBody: ({ error, message, hint }) => ({
    text: errorLine({ message, code: error, hint }),
    contentType: 'text/plain; charset=utf-8',
  }),
} as const satisfies Protocol
