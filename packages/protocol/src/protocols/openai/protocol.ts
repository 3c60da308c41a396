import { ERRORS, type ErrorSpec } from '../../errors.ts'
import type { OperationTable } from '../../operation.ts'
import { RUN_REFUSALS } from '../../operations/agents.ts'
import { DECIDE, DECISION_REFUSALS } from '../../operations/approvals.ts'
import { RUN_SIGHT } from '../../operations/runs.ts'
import type { Protocol } from '../protocol.ts'
import * as schemas from './schemas.ts'
import {
  ChatCompletionRequest,
  OpenaiConversationRequest,
  OpenaiItemsQuery,
  OpenaiObject,
  OpenaiResponseQuery,
  OpenaiResponseRequest,
} from './schemas.ts'

/** A caller that may start runs may follow and cancel the runs that it owns. */
const RUNS = {
  scope: { anyOf: ['agents:invoke:{agentId}', 'workflows:execute:{workflowId}'] },
  sight: RUN_SIGHT,
} as const

const START = {
  ...RUNS,
  method: 'POST',
  idempotent: true,
  targetFrom: 'model',
  sendsHistory: true,
  mayNeed: DECIDE,
} as const

const START_ERRORS = [
  ...RUN_REFUSALS,
  'file-quota-exceeded',
  'workflow-not-found',
  'unsupported-parameter',
  'run-not-found',
  'run-not-suspended',
  'run-not-active',
  ...DECISION_REFUSALS,
  'tool-call-not-found',
  'tool-call-ended',
  'overloaded',
] as const

const RESPONSE = '/openai/responses/:responseId'
const CONVERSATION = '/openai/conversations/:conversationId'
const READ = 'sessions:read:{conversationId}'
const WRITE = 'sessions:write:{conversationId}'

const objectOf = (description: string) => ({ 200: { schema: OpenaiObject, description } }) as const

const operations = {
  listModels: {
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

/** The member that the message is about, as `body.tools.0: …`. */
const PARAM = /^(?:body|query)\.([\w.[\]]{1,128}): /

const PATHS =
  'use a base URL that ends with /openai; the server has models, chat/completions, responses and conversations'

const typeOf = (status: number): string => {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

const errorBody: Protocol['errorBody'] = ({ code, error, message, hint, requestId }) => {
  const advice = hint ?? (code === 'route-not-found' ? PATHS : undefined)
  const { status, openai = error }: ErrorSpec = ERRORS[code]
  const shown = {
    message: advice === undefined ? message : `${message.replace(/\.$/, '')}: ${advice}`,
    type: typeOf(status),
    code: openai,
    param: PARAM.exec(message)?.[1] ?? null,
  }
  return {
    text: JSON.stringify({ error: shown, requestId }),
    contentType: 'application/json; charset=utf-8',
    // This client repeats every request with the status 409, and so would start a run again.
    headers: status === 409 && code !== 'idempotency-in-flight' ? { 'X-Should-Retry': 'false' } : undefined,
  }
}

export const openai = {
  group: 'openai',
  summary: 'OpenAI: the SDKs of OpenAI, and programs that are based on them, work with every agent.',
  mounts: 'Mount the OpenAI routes, below `/openai`.',
  operations,
  schemas,
  // The headers in which the client describes itself.
  headers: { sentPattern: /^(?:x-stainless|openai)-[a-z-]{1,48}$/i },
  errorBody,
} as const satisfies Protocol
