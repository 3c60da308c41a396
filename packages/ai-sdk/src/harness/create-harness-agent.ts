import { defineAgent, type RunContext, type ToolDeclaration } from '@perdure/core'
import type { ToolSet } from 'ai'
import { chatInput } from '../agents/chat-input.ts'
import type { ChatAgentDefinition, ChatAgentInput } from '../agents/chat-types.ts'
import { ownMessages } from '../agents/conversation.ts'
import { isFunction, isObject } from '../sdk.ts'
import type { ToolDeclarations } from '../tools/declaration.ts'
import { harnessTurn } from './harness-turn.ts'
import type { HarnessAgentLike, HarnessCalls, HarnessRegistration, HarnessSession } from './harness-types.ts'

/** Whether this is a `HarnessAgent`, which works in sessions of its own. */
export const isHarnessAgent = (agent: object): agent is HarnessAgentLike =>
  'createSession' in agent && isFunction(agent.createSession) && 'continueStream' in agent

/** An agent of the server whose turns a harness performs. */
export function createHarnessAgent<Session extends HarnessSession>(
  agent: HarnessAgentLike<Session>,
  { openSession, closeSession, ...registration }: HarnessRegistration<Session>,
): ChatAgentDefinition<string, ToolSet> {
  const id = registration.id ?? agent.id ?? agent.harnessId
  const { harnessId, hasOutput } = agent
  const run = async (input: ChatAgentInput, ctx: RunContext) =>
    harnessTurn({
      ...{ ctx, harnessId, hasOutput, sessions: { openSession, closeSession } },
      agent: agent as unknown as HarnessCalls<Session>,
      declarations: declarationsIn(agent.tools),
      messages: await ownMessages(ctx),
      ...(isObject(input) && 'settings' in input ? { options: input.settings } : {}),
    })
  return defineAgent({ ...registration, id, input: chatInput, run }) as unknown as ChatAgentDefinition<string, ToolSet>
}

/** The harness executes every tool itself. */
function declarationsIn(tools: object): ToolDeclarations {
  const of = (name: string): ToolDeclaration => ({
    ...{ declared: Object.hasOwn(tools, name) ? 'static' : 'dynamic', executor: 'server' },
  })
  return { of, ofCall: async (name) => of(name) }
}
