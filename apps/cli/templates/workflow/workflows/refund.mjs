/** Pays money back once somebody has agreed. It survives a restart at every line, and pays once. */
export const refund = {
  id: 'refund',
  description: 'Pays money back once somebody has agreed.',
  workflow: {
    id: 'refund',
    async execute({ orderId, amount }, ctx) {
      const order = await ctx.step('look up', () => ({ orderId, amount }))
      const { granted, by, reason } = await ctx.approval('refund', { title: `Pay back ${amount}?`, payload: order })
      if (!granted) return { paid: false, by, reason }
      return ctx.step('pay', ({ effectId }) => ({ paid: true, payment: effectId, by }))
    },
  },
}
