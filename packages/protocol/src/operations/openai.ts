import type { OperationTable } from '../operation.ts'
import {
  ChatCompletionRequest,
  OpenaiConversationRequest,
  OpenaiItemsQuery,
  OpenaiObject,
  OpenaiResponseQuery,
  OpenaiResponseRequest,
} from '../resources/openai.ts'
import { RUN_REFUSALS } from './agents.ts'
import { DECIDE } from './approvals.ts'
import { RUN_SIGHT } from './runs.ts'

const OPENAI = { dialect: 'openai' } as const

/** A caller that may start runs may follow and cancel the runs that it owns. */
const RUNS = {
  ...OPENAI,
  scope: { anyOf: ['agents:invoke:{agentId}', 'workflows:execute:{workflowId}'] },
  sight: RUN_SIGHT,
} as const

const START = { ...RUNS, method: 'POST', idempotent: true, targetFrom: 'model', mayNeed: DECIDE } as const

const START_ERRORS = [
  ...RUN_REFUSALS,
  'workflow-not-found',
  'unsupported-parameter',
  'run-not-found',
  'run-not-suspended',
  'run-not-active',
  'approval-not-found',
  'approval-resolved',
  'tool-call-not-found',
  'tool-call-ended',
  'overloaded',
] as const

const RESPONSE = '/openai/responses/:responseId'
const CONVERSATION = '/openai/conversations/:conversationId'
const READ = 'sessions:read:{conversationId}'
const WRITE = 'sessions:write:{conversationId}'

const objectOf = (description: string) => ({ 200: { schema: OpenaiObject, description } }) as const

/** The interfaces of OpenAI: models, Chat Completions, Responses and Conversations. */
export const openaiOperations = {
  listModels: {
    ...OPENAI,
    id: 'openai.models',
    method: 'GET',
    path: '/openai/models',
    scope: 'principal',
    idempotent: false,
    responses: objectOf('The agents and workflows that the caller may start, as models.'),
    errors: [],
    summary: 'List agents and workflows as models.',
  },
  getModel: {
    ...OPENAI,
    id: 'openai.model',
    method: 'GET',
    path: '/openai/models/:model',
    scope: 'principal',
    idempotent: false,
    responses: objectOf('The model.'),
    errors: ['agent-not-found'],
    summary: 'Describe an agent or a workflow as a model.',
  },
  createChatCompletion: {
    ...START,
    id: 'openai.chat-completion',
    path: '/openai/chat/completions',
    body: ChatCompletionRequest,
    responses: {
      200: { schema: OpenaiObject, stream: 'event-stream', description: 'The answer, or with `stream` its chunks.' },
    },
    errors: START_ERRORS,
    summary: 'Start a run, or decide what it asks, as a Chat Completion.',
  },
  createResponse: {
    ...START,
    id: 'openai.create-response',
    path: '/openai/responses',
    body: OpenaiResponseRequest,
    responses: {
      200: { schema: OpenaiObject, stream: 'event-stream', description: 'The response, or with `stream` its events.' },
    },
    errors: START_ERRORS,
    summary: 'Start a run, or answer what it asks, as a Response.',
  },
  getResponse: {
    ...RUNS,
    id: 'openai.get-response',
    method: 'GET',
    path: RESPONSE,
    idempotent: false,
    polls: true,
    query: OpenaiResponseQuery,
    responses: {
      200: { schema: OpenaiObject, stream: 'event-stream', description: 'The response, or with `stream` its events.' },
    },
    errors: ['run-not-found', 'overloaded'],
    summary: 'Read or follow a Response.',
  },
  cancelResponse: {
    ...RUNS,
    id: 'openai.cancel-response',
    method: 'POST',
    path: `${RESPONSE}/cancel`,
    idempotent: true,
    rereads: true,
    responses: objectOf('The response. One that has ended is unchanged.'),
    errors: ['run-not-found', 'run-not-active', 'session-not-found', 'thread-not-found'],
    summary: 'Abort the run of a Response.',
  },
  listResponseInput: {
    ...RUNS,
    id: 'openai.response-input',
    method: 'GET',
    path: `${RESPONSE}/input_items`,
    idempotent: false,
    query: OpenaiItemsQuery,
    responses: objectOf('The messages that started the run.'),
    errors: ['run-not-found'],
    summary: 'List the input of a Response.',
  },
  createConversation: {
    ...OPENAI,
    id: 'openai.create-conversation',
    method: 'POST',
    path: '/openai/conversations',
    scope: 'sessions:write',
    idempotent: true,
    body: OpenaiConversationRequest,
    responses: objectOf('The conversation.'),
    errors: ['session-exists', 'session-not-found', 'unsupported-parameter'],
    summary: 'Create a session as a Conversation.',
  },
  getConversation: {
    ...OPENAI,
    id: 'openai.get-conversation',
    method: 'GET',
    path: CONVERSATION,
    scope: READ,
    idempotent: false,
    responses: objectOf('The conversation.'),
    errors: ['session-not-found'],
    summary: 'Read a Conversation.',
  },
  updateConversation: {
    ...OPENAI,
    id: 'openai.update-conversation',
    method: 'POST',
    path: CONVERSATION,
    scope: WRITE,
    idempotent: true,
    body: OpenaiConversationRequest,
    responses: objectOf('The conversation.'),
    errors: ['session-not-found'],
    summary: 'Replace the metadata of a Conversation.',
  },
  deleteConversation: {
    ...OPENAI,
    id: 'openai.delete-conversation',
    method: 'DELETE',
    path: CONVERSATION,
    scope: WRITE,
    idempotent: true,
    responses: objectOf('The session, its runs, events and messages are deleted.'),
    errors: ['session-not-found'],
    summary: 'Delete a Conversation and all its data.',
  },
  listConversationItems: {
    ...OPENAI,
    id: 'openai.conversation-items',
    method: 'GET',
    path: `${CONVERSATION}/items`,
    scope: READ,
    idempotent: false,
    query: OpenaiItemsQuery,
    responses: objectOf('Messages, tool calls and approvals.'),
    errors: ['session-not-found'],
    summary: 'List the items of a Conversation.',
  },
} as const satisfies OperationTable
