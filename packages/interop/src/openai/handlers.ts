import { type Handlers, toCall } from '../handlers.ts'
import { createCompletions } from './completions.ts'
import { createConversations } from './conversations.ts'
import { createModels } from './models.ts'
import type { OpenaiDeps } from './openai-call.ts'
import { createResponses } from './responses.ts'

/** `/openai`: the interfaces of OpenAI. */
export function openaiHandlers(deps: OpenaiDeps): Handlers<'openai'> {
  const models = createModels(deps)
  const completions = createCompletions(deps)
  const responses = createResponses(deps)
  const conversations = createConversations(deps)
  return {
    async listModels({ principal }) {
      return { status: 200, body: await models.list(principal) }
    },
    async getModel({ principal, params }) {
      return { status: 200, body: await models.get(principal, params.model) }
    },
    createChatCompletion: (call) => completions.create(toCall(call), call.body),
    createResponse: (call) => responses.create(toCall(call), call.body),
    getResponse: (call) => responses.get(toCall(call), call.params.responseId, call.query),
    cancelResponse: (call) => responses.cancel(toCall(call), call.params.responseId),
    async listResponseInput(call) {
      return { status: 200, body: await responses.input(toCall(call), call.params.responseId, call.query) }
    },
    createConversation: (call) => conversations.create(toCall(call), call.body),
    async getConversation(call) {
      return { status: 200, body: await conversations.get(toCall(call), call.params.conversationId) }
    },
    updateConversation: (call) => conversations.update(toCall(call), call.params.conversationId, call.body),
    deleteConversation: (call) => conversations.remove(toCall(call), call.params.conversationId),
    async listConversationItems(call) {
      return { status: 200, body: await conversations.items(toCall(call), call.params.conversationId, call.query) }
    },
  }
}
