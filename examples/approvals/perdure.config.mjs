export default {
  workflows: [
    {
      id: 'refund',
      description: 'Pays money back; above 100 somebody has to agree.',
      workflow: {
        id: 'refund',
        async execute({ order, amount }, ctx) {
          if (amount > 100) {
            const title = `Pay ${amount} back for ${order}?`
            const decision = await ctx.approval('agree', { title, payload: { order, amount } })
            if (!decision.granted) return { order, paid: 0, because: decision.reason ?? 'denied' }
          }
          // Executes once, whatever happens to the server; a bank would get the effectId to tell a repetition.
          return ctx.step('pay', ({ effectId }) => ({ order, paid: amount, payment: effectId }))
        },
      },
    },
  ],
}
