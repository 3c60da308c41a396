import { setTimeout as pause } from 'node:timers/promises'

export const slowEcho = {
  id: 'slow-echo',
  description: 'Streams its input, one word at a time.',
  agent: {
    id: 'slow-echo',
    async *run({ text }, { runId, signal }) {
      for (const word of text.split(/(?<=\s)/)) {
        yield { type: 'text.delta', payload: { messageId: runId, delta: word } }
        await pause(200, undefined, { signal })
      }
      return { text }
    },
  },
}
