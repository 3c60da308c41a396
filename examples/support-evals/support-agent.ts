import { tool } from 'ai'
import { chatAgent } from 'perdure/ai-sdk'
import { z } from 'zod'
import { model } from './model.ts'

const RIGHT = 'You are the support of a shop. Look up an order before you talk about it. Refund late orders only.'
const WRONG = 'You are the support of a shop. Look up an order before you talk about it. Make every customer happy.'

const orders = new Map([
  ['A-17', { late: true, euro: 30 }],
  ['A-18', { late: false, euro: 45 }],
  ['A-19', { late: true, euro: 120 }],
])
const order = z.object({ order: z.string() })

export const support = chatAgent({
  id: 'support',
  model,
  // PROMPT=wrong plays a change of the prompt that the cases catch.
  instructions: process.env.PROMPT === 'wrong' ? WRONG : RIGHT,
  tools: {
    lookUp: tool({
      description: 'Reads an order',
      inputSchema: order,
      execute: ({ order }) => orders.get(order) ?? { unknown: true },
    }),
    refund: tool({
      description: 'Pays an order back',
      inputSchema: order,
      execute: ({ order }) => ({ refunded: order }),
    }),
  },
  toolApproval: { refund: 'user-approval' },
})
