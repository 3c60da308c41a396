import type { ToolSet } from 'ai'
import type { ChatAgentDefinition, ChatAgentSettings, ChatHistory, ChatRegistration } from './agents/chat-types.ts'
import { createChatAgent } from './agents/create-chat-agent.ts'
import { createSummarize } from './agents/summarize.ts'
import { durable } from './durable.ts'
import { createHarnessAgent, isHarnessAgent } from './harness/create-harness-agent.ts'
import type { HarnessAgentLike, HarnessRegistration, HarnessSession } from './harness/harness-types.ts'
import { isObject, type Options } from './sdk.ts'

/**
 * An agent for chats from the settings of `ToolLoopAgent`. Each answer of the model is paid for once, tools that need
 * approval wait for a person for as long as it takes, and earlier turns are in the prompt.
 */
export function chatAgent<const Id extends string, Tools extends ToolSet>(
  settings: ChatAgentSettings<Id, Tools>,
): ChatAgentDefinition<Id, Tools> {
  return createChatAgent(durable, settings as Options)
}

/**
 * A compactor for `history.compact`: the model summarizes everything but the newest turns.
 *
 * @throws TypeError for a number of turns that is not a whole number of at least 1
 */
export const summarize = createSummarize(durable)

const NO_SESSIONS = 'agentOf: a HarnessAgent works in sessions; write agentOf(agent, { openSession, closeSession })'

/** A `ToolLoopAgent` of the AI SDK, version 6 or 7. */
interface SdkAgent<Tools> {
  readonly id: string | undefined
  readonly tools: Tools
}

/** The tools of a harness. `@ai-sdk/harness` may depend on another version of the SDK, whose types of tools differ. */
type HarnessTools<Tools> = Tools extends ToolSet ? Tools : ToolSet

/**
 * Registers an agent of the AI SDK as it is. It can still be used without Perdure.
 *
 * @throws TypeError for an agent without an id, and for one that is not a `ToolLoopAgent`
 */
export function agentOf<Tools extends ToolSet>(
  agent: SdkAgent<Tools>,
  registration?: Partial<ChatRegistration<string>> & { readonly history?: ChatHistory },
): ChatAgentDefinition<string, Tools>
/**
 * Registers a `HarnessAgent` of `@ai-sdk/harness`. A turn is a recorded step. After a crash the harness continues the turn if
 * it can; otherwise the run fails as `run-interrupted`, so that nothing is done twice.
 */
export function agentOf<Session extends HarnessSession, Tools extends object>(
  agent: HarnessAgentLike<Session> & { readonly tools: Tools },
  registration: HarnessRegistration<Session>,
): ChatAgentDefinition<string, HarnessTools<Tools>>
export function agentOf(
  agent: SdkAgent<ToolSet> | HarnessAgentLike,
  registration: Partial<HarnessRegistration<HarnessSession>> = {},
): ChatAgentDefinition<string, ToolSet> {
  if (isHarnessAgent(agent)) {
    const { openSession, closeSession } = registration
    if (openSession === undefined || closeSession === undefined) throw new TypeError(NO_SESSIONS)
    return createHarnessAgent(agent, { ...registration, openSession, closeSession })
  }
  // The types of both versions declare it as private.
  const { settings } = agent as { readonly settings?: unknown }
  if (!isObject(settings) || settings.model === undefined) {
    throw new TypeError(
      'agentOf: this is not a ToolLoopAgent of the AI SDK 6 or 7; pass its settings to chatAgent instead',
    )
  }
  const id = registration.id ?? agent.id
  if (id === undefined) {
    throw new TypeError(
      "agentOf: the agent has no id; set it in its settings, or write agentOf(agent, { id: 'support' })",
    )
  }
  return createChatAgent(durable, { ...settings, ...registration, id })
}
