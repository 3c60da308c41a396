import type { Message } from 'chat'
import type { PerdureState } from '../state/perdure-state.ts'
import { KEPT_MS, type Posts } from './posts.ts'

/** The answer of a run in its thread: one message that grows, and a further one after each request for approval. */
export interface Answer {
  /** Shows the text so far. `text` is the whole text of the run. */
  show(text: string): Promise<void>
  /** Lets later text begin a message of its own. */
  breakAt(text: string): Promise<void>
}

interface Progress {
  /** How many characters of the text the earlier messages have shown. */
  readonly from: number
  readonly part: number
}

const START: Progress = { from: 0, part: 1 }

/** Platforms shorten or refuse longer messages: Slack does so from 12,000 characters on. */
const MAX_MESSAGE_LENGTH = 10_000

/** Pieces of a text that fit into a message each, cut at line breaks where there are some. */
export function messagesOf(text: string, maxLength = MAX_MESSAGE_LENGTH): readonly string[] {
  const pieces: string[] = []
  let rest = text.trim()
  while (rest.length > maxLength) {
    const lineEnd = rest.lastIndexOf('\n', maxLength)
    const cut = lineEnd > maxLength / 2 ? lineEnd : cutBefore(rest, maxLength)
    pieces.push(rest.slice(0, cut))
    rest = rest.slice(cut).trimStart()
  }
  return rest === '' ? pieces : [...pieces, rest]
}

/** Does not cut between the two halves of a character outside the basic plane. */
const cutBefore = (text: string, at: number): number => ((text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at)

/** Letters and digits: what is left of a text when a platform has changed its markup. */
const plain = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '')

const isSameText = (message: Message, text: string): boolean => plain(message.text) === plain(text)

export function createAnswer(posts: Posts, state: PerdureState, runId: string): Answer {
  const key = `perdure:answer:${runId}`
  const progress = async (): Promise<Progress> => (await state.get<Progress>(key)) ?? START
  const showParts = async (text: string, { from, part }: Progress): Promise<void> => {
    for (const [index, piece] of messagesOf(text.slice(from)).entries()) {
      const name = `${runId}:${part}:${index}`
      await posts.show({ name, content: { markdown: piece }, mark: piece, isMarked: isSameText })
    }
  }
  return {
    show: async (text) => showParts(text, await progress()),
    async breakAt(text) {
      const present = await progress()
      if (text.length <= present.from) return
      await showParts(text, present)
      await state.set(key, { from: text.length, part: present.part + 1 }, KEPT_MS)
    },
  }
}
