export default {
  agents: [
    {
      id: 'hello',
      description: 'Greets by name, word by word.',
      agent: {
        id: 'hello',
        async *run({ name }, ctx) {
          const greeting = `Hello ${name}, this is run ${ctx.runId}.`
          for (const word of greeting.split(/(?<=\s)/)) {
            yield { type: 'text.delta', payload: { messageId: ctx.runId, delta: word } }
          }
          return { greeting }
        },
      },
    },
  ],
}
