import { openai } from '@ai-sdk/openai'
import { tool } from 'ai'
import { defineConfig } from 'perdure'
import { chatAgent } from 'perdure/ai-sdk'
import { z } from 'zod'
import { orders, payments } from './shop.ts'

const lookUpOrder = tool({
  description: 'Finds an order',
  inputSchema: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => orders.find(orderId),
})

const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
  execute: ({ orderId, amount }) => payments.refund(orderId, amount),
})

export default defineConfig({
  agents: [
    chatAgent({
      id: 'support',
      model: openai('gpt-5-mini'),
      instructions: 'You help the customers of a scarf shop.',
      tools: { lookUpOrder, refund },
      toolApproval: { refund: ({ amount }) => (amount > 50 ? 'user-approval' : undefined) },
    }),
  ],
})
