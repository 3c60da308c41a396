import type { openAiOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { OpenAiCall, UseCases } from '../http-app-deps.ts'

/** `/openai`: the interfaces of OpenAI. */
export const openAiRoutes = ({ openAi }: Pick<UseCases, 'openAi'>): Handlers<typeof openAiOperations> => ({
  async listModels({ principal }) {
    return { status: 200, body: await openAi.models.list(principal) }
  },
  async getModel({ principal, params }) {
    return { status: 200, body: await openAi.models.get(principal, params.model) }
  },
  createChatCompletion: (call) => openAi.completions.create(toOpenAiCall(call), call.body),
  createResponse: (call) => openAi.responses.create(toOpenAiCall(call), call.body),
  getResponse: (call) => openAi.responses.get(toOpenAiCall(call), call.params.responseId, call.query),
  cancelResponse: (call) => openAi.responses.cancel(toOpenAiCall(call), call.params.responseId),
  async listResponseInput(call) {
    return { status: 200, body: await openAi.responses.input(toOpenAiCall(call), call.params.responseId, call.query) }
  },
  createConversation: (call) => openAi.conversations.create(toOpenAiCall(call), call.body),
  async getConversation(call) {
    return { status: 200, body: await openAi.conversations.get(toOpenAiCall(call), call.params.conversationId) }
  },
  updateConversation: (call) => openAi.conversations.update(toOpenAiCall(call), call.params.conversationId, call.body),
  deleteConversation: (call) => openAi.conversations.remove(toOpenAiCall(call), call.params.conversationId),
  async listConversationItems(call) {
    const { conversationId } = call.params
    return { status: 200, body: await openAi.conversations.items(toOpenAiCall(call), conversationId, call.query) }
  },
})

const toOpenAiCall = ({ principal, visibility, key, traceparent, hangUp, lastEventId }: OpenAiCall): OpenAiCall => ({
  principal,
  visibility,
  key,
  traceparent,
  hangUp,
  lastEventId,
})
