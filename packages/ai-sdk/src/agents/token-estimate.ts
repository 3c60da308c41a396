import type { ModelMessage } from 'ai'

const CHARACTERS_PER_TOKEN = 4
/** What providers charge for an image or a page differs; this is their order of magnitude. */
const TOKENS_PER_FILE = 1_000

/** About how many tokens the messages have. Providers count differently, but none counts before it is called. */
export function tokensOf(messages: readonly ModelMessage[]): number {
  let characters = 0
  let files = 0
  const count = (value: unknown) => {
    if (typeof value === 'string') characters += value.length
    else if (value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof URL) files += 1
    else if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) count(member)
    else characters += String(value ?? '').length
  }
  for (const { content } of messages) count(content)
  return Math.ceil(characters / CHARACTERS_PER_TOKEN) + files * TOKENS_PER_FILE
}
