import type { openaiOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { OpenaiCall, UseCases } from '../http-app-deps.ts'

/** `/openai`: the interfaces of OpenAI. */
export const openaiRoutes = ({ openai }: Pick<UseCases, 'openai'>): Handlers<typeof openaiOperations> => ({
  async listModels({ principal }) {
    return { status: 200, body: await openai.models.list(principal) }
  },
  async getModel({ principal, params }) {
    return { status: 200, body: await openai.models.get(principal, params.model) }
  },
  createChatCompletion: (call) => openai.completions.create(toOpenaiCall(call), call.body),
  createResponse: (call) => openai.responses.create(toOpenaiCall(call), call.body),
  getResponse: (call) => openai.responses.get(toOpenaiCall(call), call.params.responseId, call.query),
  cancelResponse: (call) => openai.responses.cancel(toOpenaiCall(call), call.params.responseId),
  async listResponseInput(call) {
    return { status: 200, body: await openai.responses.input(toOpenaiCall(call), call.params.responseId, call.query) }
  },
  createConversation: (call) => openai.conversations.create(toOpenaiCall(call), call.body),
  async getConversation(call) {
    return { status: 200, body: await openai.conversations.get(toOpenaiCall(call), call.params.conversationId) }
  },
  updateConversation: (call) => openai.conversations.update(toOpenaiCall(call), call.params.conversationId, call.body),
  deleteConversation: (call) => openai.conversations.remove(toOpenaiCall(call), call.params.conversationId),
  async listConversationItems(call) {
    const { conversationId } = call.params
    return { status: 200, body: await openai.conversations.items(toOpenaiCall(call), conversationId, call.query) }
  },
})

const toOpenaiCall = ({
  principal,
  visibility,
  key,
  traceparent,
  hangUp,
  lastEventId,
  charge,
}: OpenaiCall): OpenaiCall => ({
  principal,
  visibility,
  key,
  traceparent,
  hangUp,
  lastEventId,
  charge,
})
