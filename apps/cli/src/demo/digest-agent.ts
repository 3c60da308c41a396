import type { AgentEvent, AgentRegistration } from '@perdure/core'
import { type DigestInput, parseDigestInput } from './digest-input.ts'
import { readTextFile } from './read-text-file.ts'
import { summarize } from './summarize.ts'

export interface Digest {
  readonly summary: string
  readonly sentences: readonly string[] // as written in the source
  readonly words: number
  readonly characters: number
  readonly readingMinutes: number // one decimal
  readonly topTerms: readonly { readonly term: string; readonly count: number }[]
}

const WORDS_PER_MINUTE = 230
const MAX_DEFAULT_SENTENCES = 5
const CHARACTERS_PER_SENTENCE = 1_200

/** Extracts the key sentences of a text, or of a document below `baseDir`, without a model. */
export const digestAgent = ({ baseDir }: { readonly baseDir: string }): AgentRegistration => ({
  id: 'digest',
  description: 'Extracts the key sentences of a text, { text } or { file }; needs no model.',
  tags: ['demo'],
  input: {
    '~standard': {
      version: 1,
      vendor: 'perdure',
      validate(value) {
        const parsed = parseDigestInput(value)
        return typeof parsed === 'string' ? { issues: [{ message: parsed }] } : { value }
      },
    },
  },
  agent: {
    id: 'digest',
    async *run(input, { runId, signal }) {
      const request = parseDigestInput(input)
      if (typeof request === 'string') throw Object.assign(new Error(request), { code: 'invalid-input' })
      yield progress('read', 0)
      const text = await textOf(baseDir, request)
      signal.throwIfAborted()

      yield progress('choose', 1)
      const { chosen, words, topTerms } = summarize(text, request.sentences ?? defaultCount(text))
      const lines = chosen.map((sentence) => sentence.text.replaceAll(/\s+/g, ' '))
      yield progress('write', 2)
      const messageId = `${runId}-1`
      for (const [index, line] of lines.entries()) {
        signal.throwIfAborted()
        yield { type: 'text.delta', payload: { messageId, delta: index === 0 ? line : ` ${line}` } }
      }
      const summary = lines.join(' ')
      yield { type: 'text.complete', payload: { messageId, text: summary } }
      yield progress('done', 3)
      const readingMinutes = Math.max(0.1, Math.round((words / WORDS_PER_MINUTE) * 10) / 10)
      const sentences = chosen.map((sentence) => sentence.text)
      return { summary, sentences, words, characters: text.length, readingMinutes, topTerms } satisfies Digest
    },
  },
})

const STAGES = 3

const progress = (stage: string, done: number): AgentEvent => ({
  type: 'digest.progress',
  payload: { stage, done, total: STAGES },
})

async function textOf(baseDir: string, { source }: DigestInput): Promise<string> {
  const text = 'text' in source ? source.text : await readTextFile(baseDir, source.file)
  if (text.trim() !== '') return text
  throw Object.assign(new Error('the text is empty'), { code: 'empty-text' })
}

/** From one sentence for a short text to five for a long one. */
const defaultCount = (text: string): number =>
  Math.min(MAX_DEFAULT_SENTENCES, Math.max(1, Math.ceil(text.length / CHARACTERS_PER_SENTENCE)))
