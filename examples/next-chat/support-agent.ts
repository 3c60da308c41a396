import { tool } from 'ai'
import { chatAgent, type InferChatMessage, toolOptions } from 'perdure/ai-sdk'
import { z } from 'zod'
import { model } from './model.ts'

const lookUpOrder = tool({
  title: 'Find the order',
  description: 'Finds an order',
  inputSchema: z.object({ orderId: z.string() }),
  execute: ({ orderId }) => ({ orderId, what: 'a red scarf', price: 80 }),
})

const refund = tool({
  title: 'Refund the order',
  description: 'Refunds an order',
  inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
  execute: ({ orderId, amount }) => ({ orderId, refunded: amount }),
})

/** A refund over 50 waits for staff, for as long as it takes; after an hour, an event reminds of it. */
export const support = chatAgent({
  id: 'support',
  description: 'Helps the customers of a scarf shop.',
  model,
  onBusy: ['queue', 'steer'],
  instructions: 'You help the customers of a scarf shop. Ask for a photo before you refund an order.',
  tools: { lookUpOrder, refund: toolOptions(refund, { approval: { assignee: 'staff', remindAfter: '1h' } }) },
  toolApproval: { refund: ({ amount }) => (amount > 50 ? 'user-approval' : undefined) },
})

/** The messages that the page shows. */
export type SupportMessage = InferChatMessage<typeof support>
