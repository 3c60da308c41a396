import { chatAgent } from '@perdure/ai-sdk'
import { type ScriptedAnswer, type ScriptedCall, scriptedModel } from '@perdure/ai-sdk/testing'
import type { AgentRegistration } from '@perdure/core'
import { jsonSchema, tool } from 'ai'

const schema = jsonSchema<{ order: string }>({ type: 'object', properties: { order: { type: 'string' } } })

/** Finds an order, then refunds it; a person approves. */
const answer = ({ text, toolResults }: ScriptedCall): ScriptedAnswer => {
  if (!text.includes('refund')) return `You said: ${text}`
  const input = { order: 'A-17' }
  if (toolResults.length === 0) return { toolName: 'find', input }
  if (toolResults.length === 1) return { toolName: 'refund', input }
  return 'You get your money back.'
}

export const shopWith = (reply: (call: ScriptedCall) => ScriptedAnswer): AgentRegistration =>
  chatAgent({
    id: 'shop',
    model: scriptedModel(reply),
    tools: {
      find: tool({ inputSchema: schema, execute: ({ order }) => ({ order, paid: 30 }) }),
      refund: tool({ inputSchema: schema, execute: ({ order }) => ({ refunded: order }) }),
    },
    toolApproval: { refund: 'user-approval' },
  }) as AgentRegistration

export const shop = shopWith(answer)
