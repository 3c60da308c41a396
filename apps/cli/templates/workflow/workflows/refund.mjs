/** Pays a refund after an approval. Survives a crash at every line, and pays once. */
export const refund = {
  id: 'refund',
  description: 'Pays a refund after an approval.',
  workflow: {
    id: 'refund',
    async execute({ orderId, amount }, ctx) {
      const order = await ctx.step('look up', () => ({ orderId, amount }))
      const { granted, by, reason } = await ctx.approval('refund', { title: `Refund ${amount}?`, payload: order })
      if (!granted) return { paid: false, by, reason }
      return ctx.step('pay', ({ effectId }) => ({ paid: true, payment: effectId, by }))
    },
  },
}
