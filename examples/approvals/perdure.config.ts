import { defineConfig, defineWorkflow } from 'perdure'
import { z } from 'zod'

const refund = defineWorkflow({
  id: 'refund',
  description: 'Pays a refund; amounts over 100 need an approval.',
  input: z.object({ order: z.string(), amount: z.number() }),
  async run({ order, amount }, ctx) {
    if (amount > 100) {
      const title = `Refund ${amount} for ${order}?`
      const decision = await ctx.approval('approve refund', { title, payload: { order, amount } })
      if (!decision.approved) return { order, paid: 0, because: decision.reason ?? 'denied' }
    }
    // Once its result is stored, this step is not called again. Give the bank idempotencyKey as the idempotency key.
    return ctx.step('pay', ({ idempotencyKey }) => ({ order, paid: amount, payment: idempotencyKey }))
  },
})

export default defineConfig({ workflows: [refund] })
