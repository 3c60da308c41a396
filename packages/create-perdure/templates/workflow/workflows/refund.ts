import { defineWorkflow } from 'perdure'
import { z } from 'zod'
import { assess } from '../agents/assess.ts'

/** Pays a refund after an approval. Survives a crash at every line, and pays once. */
export const refund = defineWorkflow({
  id: 'refund',
  input: z.object({ orderId: z.string(), amount: z.number(), reason: z.string() }),
  async run({ orderId, amount, reason }, ctx) {
    const { advice } = await ctx.invoke(assess, { reason })
    const { approved, by } = await ctx.approval('refund', {
      title: `Refund ${amount} for ${orderId}?`,
      payload: { reason, advice },
      timeout: '7d',
    })
    if (!approved) return { paid: false, by }
    // Call your payment provider here, and pass it the key: it stays the same when the step is tried again.
    return ctx.step('pay', ({ idempotencyKey }) => ({ paid: true, payment: idempotencyKey, by }), { retries: 3 })
  },
})
