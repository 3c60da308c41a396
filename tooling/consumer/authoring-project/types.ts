import { type generateText, type streamText, ToolLoopAgent, tool } from 'ai'
import { agentOf, chatAgent, durable, toolOptions } from 'perdure/ai-sdk'
import { scriptedModel } from 'perdure/ai-sdk/testing'
import { z } from 'zod'

const model = scriptedModel(['Hi'])
const refund = tool({
  inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
  execute: ({ amount }) => ({ refunded: amount }),
})

/** Calls have the types of the SDK: adding durability is `ai.` in front. */
export async function calls() {
  const ai = durable()
  const same: typeof streamText = ai.streamText
  const also: typeof generateText = ai.generateText
  const { toolResults } = await ai.generateText({ model, prompt: 'Hi', tools: { refund } })
  const [first] = toolResults
  const refunded: number | undefined = first?.dynamic === true ? undefined : first?.output.refunded
  const tools = ai.tools({ refund })
  const durableModel: typeof model = ai.model(model)
  const agent: ToolLoopAgent<never, { refund: typeof refund }> = new ai.ToolLoopAgent({ model, tools: { refund } })
  return { same, also, refunded, tools, durableModel, agent }
}

/** The input of a tool is known to its options and to the policy of the agent. */
export const shop = chatAgent({
  id: 'shop',
  model: ai('openai/gpt-5-mini'),
  tools: {
    refund: toolOptions(refund, {
      onCrash: 'ask',
      timeout: '10s',
      approval: { title: ({ orderId, amount }) => `${orderId}: ${amount.toFixed(2)}`, timeout: '1d' },
    }),
  },
  toolApproval: {
    refund: async ({ amount }) => (amount > 50 ? { type: 'user-approval', reason: 'a lot' } : 'approved'),
  },
  concurrency: 'session',
  prepareStep: ({ stepNumber }) => (stepNumber > 3 ? { toolChoice: 'none' } : {}),
})
export const id: 'shop' = shop.id

function ai(name: string) {
  return durable().model(name)
}

// @ts-expect-error the tool has no such input
toolOptions(refund, { approval: { title: ({ color }) => color } })
// @ts-expect-error a chat agent needs an id
chatAgent({ model })
// @ts-expect-error no such option
chatAgent({ id: 'shop', model, tempo: 1 })
// @ts-expect-error no such status
chatAgent({ id: 'shop', model, tools: { refund }, toolApproval: { refund: 'maybe' } })
// @ts-expect-error not an agent
agentOf({ id: 'shop' })

export const registered = agentOf(new ToolLoopAgent({ id: 'shop', model, tools: { refund } }), { tags: ['shop'] })
