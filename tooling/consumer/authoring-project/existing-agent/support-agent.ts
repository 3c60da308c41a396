import { ToolLoopAgent, tool } from 'ai'
import { scriptedModel } from 'perdure/ai-sdk/testing'
import { z } from 'zod'

const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ orderId: z.string() }),
  needsApproval: true,
  execute: ({ orderId }) => `refunded ${orderId}`,
})

export const supportAgent = new ToolLoopAgent({
  id: 'support',
  model: scriptedModel([{ toolName: 'refund', input: { orderId: 'A-2' } }, 'It is done.']),
  instructions: 'You help the customers of a scarf shop.',
  tools: { refund },
})
