/** Streams its input word by word, then returns it. */
export const echo = {
  id: 'echo',
  description: 'Streams its input word by word, then returns it.',
  agent: {
    id: 'echo',
    async *run(input, context) {
      const text = typeof input === 'string' ? input : (input?.text ?? '')
      for (const word of text.split(/(?<=\s)/)) {
        yield { type: 'text.delta', payload: { messageId: context.runId, delta: word } }
      }
      return input
    },
  },
}
