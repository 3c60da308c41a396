export default {
  workflows: [
    {
      id: 'refund',
      description: 'Pays a refund; amounts over 100 need an approval.',
      workflow: {
        id: 'refund',
        async execute({ order, amount }, ctx) {
          if (amount > 100) {
            const title = `Refund ${amount} for ${order}?`
            const decision = await ctx.approval('approve refund', { title, payload: { order, amount } })
            if (!decision.approved) return { order, paid: 0, because: decision.reason ?? 'denied' }
          }
          // Once its result is stored, this step is not called again. Give the bank idempotencyKey as the idempotency key.
          return ctx.step('pay', ({ idempotencyKey }) => ({ order, paid: amount, payment: idempotencyKey }))
        },
      },
    },
  ],
}
