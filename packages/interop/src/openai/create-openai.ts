import { type Completions, createCompletions } from './completions.ts'
import { type Conversations, createConversations } from './conversations.ts'
import { createModels, type Models } from './models.ts'
import type { OpenaiDeps } from './openai-call.ts'
import { createResponses, type Responses } from './responses.ts'

/** The interfaces of OpenAI. */
export interface Openai {
  readonly models: Models
  readonly completions: Completions
  readonly responses: Responses
  readonly conversations: Conversations
}

export const createOpenai = (deps: OpenaiDeps): Openai => ({
  models: createModels(deps),
  completions: createCompletions(deps),
  responses: createResponses(deps),
  conversations: createConversations(deps),
})
