import type { AgentRegistration } from '@perdure/core'

/** A text of any length is streamed in at most this many pieces. */
const MAX_DELTAS = 200

/** Returns its input. If the input is text or contains `text`, streams it word by word first. */
export const echoAgent: AgentRegistration = {
  id: 'echo',
  description: 'Returns its input; streams text word by word.',
  tags: ['demo'],
  agent: {
    id: 'echo',
    async *run(input, { runId }) {
      const text = textOf(input)
      if (text === undefined || text === '') return input
      const messageId = `${runId}-1`
      for (const delta of pieces(text)) yield { type: 'text.delta', payload: { messageId, delta } }
      yield { type: 'text.complete', payload: { messageId, text } }
      return input
    },
  },
}

function textOf(input: unknown): string | undefined {
  if (typeof input === 'string') return input
  const text = typeof input === 'object' && input !== null && 'text' in input ? input.text : undefined
  return typeof text === 'string' ? text : undefined
}

/** Splits a text into words with their trailing white space. Joined, the pieces are the text again. */
export function pieces(text: string): readonly string[] {
  const words = text.match(/^\s+|\S+\s*/g) ?? []
  const perPiece = Math.ceil(words.length / MAX_DELTAS)
  return Array.from({ length: Math.ceil(words.length / perPiece) }, (_, index) =>
    words.slice(index * perPiece, (index + 1) * perPiece).join(''),
  )
}
