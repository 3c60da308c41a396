import { tool } from 'ai'
import { scriptedModel } from 'perdure/ai-sdk/testing'
import { z } from 'zod'

const inputSchema = z.object({ orderId: z.string() })

export const lookUpOrder = tool({ inputSchema, execute: ({ orderId }) => `a scarf, order ${orderId}` })
export const refund = tool({ inputSchema, execute: ({ orderId }) => `refunded ${orderId}` })
export const model = scriptedModel(['The scarf is too long. Please shorten it.'])
export const shorten = async (text: string): Promise<string> => text.split('. ')[0] ?? ''
export const helpdesk = {
  close: async (ticket: string, { idempotencyKey }: { readonly idempotencyKey: string }): Promise<string> =>
    `${ticket} is closed under ${idempotencyKey}`,
}
