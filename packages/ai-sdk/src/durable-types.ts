import type {
  embed,
  embedMany,
  generateText,
  LanguageModel,
  ModelMessage,
  streamText,
  ToolLoopAgent,
  ToolSet,
  UIMessage,
} from 'ai'
import type { ConversationOptions } from './agents/conversation-options.ts'

/** The AI SDK, with models and tools whose calls are recorded. Everything has the types of the SDK. */
export interface Durable {
  /** Returns the stream as the result of the run, or awaits it. What the model says is shown while it comes. */
  readonly streamText: typeof streamText
  readonly generateText: typeof generateText
  readonly embed: typeof embed
  readonly embedMany: typeof embedMany
  readonly ToolLoopAgent: typeof ToolLoopAgent
  /** A model for code that needs it alone: each of its calls is a step. */
  readonly model: DurableModel
  /** Tools for code that needs them alone: each call is recorded, and waits for the approval that the tool needs. */
  readonly tools: <Tools extends ToolSet>(tools: Tools) => Tools
  /**
   * The conversation up to the message that this run answers, as a prompt. Turns that were edited or regenerated are not
   * in it. Each tool call has a result, also one that was denied or cut off.
   */
  readonly messages: (options?: ConversationOptions) => Promise<ModelMessage[]>
  /** The same conversation as a page shows it. */
  readonly uiMessages: (options?: Pick<ConversationOptions, 'maxTurns'>) => Promise<UIMessage[]>
}

type LanguageModelObject = Exclude<LanguageModel, string>

export interface DurableModel {
  <Model extends LanguageModelObject>(model: Model): Model
  /** The model with this id at the default provider. */
  (model: string): LanguageModelObject
}
