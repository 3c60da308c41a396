import type { AgentDefinition, ChatInput, RegistrationOptions } from '@perdure/core'
import type { InferUITools, LanguageModel, ModelMessage, ToolLoopAgent, ToolSet, UIDataTypes, UIMessage } from 'ai'
import type { ToolApprovalType } from '../tools/approval-policy.ts'
import type { ToolInputOf } from '../tools/tool-options.ts'

/** The settings of an agent of the SDK, as its version defines them. */
type SdkSettings<Tools extends ToolSet> = ConstructorParameters<typeof ToolLoopAgent<never, Tools>>[0]

/** What decides about a tool call before it is executed: the statuses of version 7. */
export type ToolApprovalDecision =
  | undefined
  | ToolApprovalType
  | { readonly type: ToolApprovalType; readonly reason?: string }

type Decided = ToolApprovalDecision | PromiseLike<ToolApprovalDecision>

/** `toolApproval` for version 6, which does not have it: one function for all tools, or a status or function for each. */
export type ToolApproval<Tools extends ToolSet> =
  | ((call: {
      readonly toolCall: {
        readonly toolCallId: string
        readonly toolName: keyof Tools & string
        readonly input: unknown
      }
      readonly tools: Tools | undefined
      readonly messages: readonly ModelMessage[]
    }) => Decided)
  | {
      readonly [Name in keyof Tools]?:
        | ToolApprovalDecision
        | ((
            input: ToolInputOf<Tools[Name]>,
            options: { readonly toolCallId: string; readonly messages: readonly ModelMessage[] },
          ) => Decided)
    }

type WithApproval<Tools extends ToolSet> = 'toolApproval' extends keyof SdkSettings<ToolSet>
  ? unknown
  : { readonly toolApproval?: ToolApproval<Tools> }

/** What clients send to a chat agent. */
export type ChatAgentInput = string | { readonly text: string } | Pick<ChatInput, 'messages'>

/** The options of a registration. `timeout` is that of the SDK. */
export type ChatRegistration<Id extends string> = Omit<
  RegistrationOptions<ChatAgentInput, unknown, Id>,
  'input' | 'output' | 'timeout'
>

/**
 * Returns a shorter prompt. It must keep the last message, and each tool call together with its result. It is executed once, like the
 * code of a step, and its result stands for the messages in this turn and in later ones.
 */
export type Compactor = (
  messages: ModelMessage[],
  options: { readonly maxTokens: number },
) => readonly ModelMessage[] | PromiseLike<readonly ModelMessage[]>

export interface SummarizeOptions {
  readonly model: LanguageModel
  /** How many turns stay as they are, with the present one. Default 4. */
  readonly keepTurns?: number | undefined
  /** What the model is told to do with the older turns. */
  readonly instructions?: string | undefined
}

/** How much of the conversation the model sees. */
export interface ChatHistory {
  /** How many turns the prompt has at most, with the present one. Default and maximum: 100. */
  readonly maxTurns?: number | undefined
  /**
   * The size of a prompt above which it is compacted, before each call of the model. An estimate of 4 characters per token, or what the
   * last call reported if that is more. By default nothing is compacted.
   */
  readonly maxTokens?: number | undefined
  /** How a longer prompt is compacted. Default: `summarize` with the model of the agent. */
  readonly compact?: Compactor | undefined
}

/**
 * The title of a chat in lists, until somebody names the chat. By default, the beginning of its first message. A function is
 * called once, after the first answer, and its result is recorded; while it works, and if it fails, the default stays.
 */
export type ChatTitle = 'first-message' | ((messages: UIMessage[]) => string | PromiseLike<string>)

/** The settings of `ToolLoopAgent`, and the options of a registration. */
export type ChatAgentSettings<Id extends string, Tools extends ToolSet> = SdkSettings<Tools> &
  WithApproval<Tools> &
  ChatRegistration<Id> & { readonly history?: ChatHistory; readonly title?: ChatTitle }

/** An agent that answers in a chat. */
export interface ChatAgentDefinition<Id extends string = string, Tools extends ToolSet = ToolSet>
  extends AgentDefinition<Id, ChatAgentInput, { readonly text: string }, ChatAgentInput> {
  /** Carries the type of the tools; does not exist at run time. */
  readonly '~tools'?: Tools
  /** Carries the type of the messages that a page shows; does not exist at run time. */
  readonly '~message'?: UIMessage<unknown, UIDataTypes, InferUITools<Tools>>
}

/** The message of a page that shows this agent, for `useChat`. */
export type InferChatMessage<Definition> = Definition extends { readonly '~tools'?: infer Tools }
  ? UIMessage<unknown, UIDataTypes, InferUITools<NonNullable<Tools> extends ToolSet ? NonNullable<Tools> : never>>
  : never
