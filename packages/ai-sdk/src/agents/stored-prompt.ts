import { fileIdOf } from '@perdure/core'
import type { ModelMessage } from 'ai'
import type { ReadFile } from './read-file.ts'

/** A prompt as JSON: stored files as their URLs, other bytes as Base64. */
export function storedPrompt(
  messages: readonly ModelMessage[],
  urlOf: (bytes: Uint8Array) => string | undefined,
): unknown {
  const stored = (value: unknown): unknown => {
    if (value instanceof Uint8Array) return urlOf(value) ?? Buffer.from(value).toString('base64')
    if (value instanceof ArrayBuffer) return stored(new Uint8Array(value))
    if (value instanceof URL) return value.href
    if (Array.isArray(value)) return value.map(stored)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, stored(member)]))
  }
  return messages.map(stored)
}

/** The members of a part that hold bytes. */
const BYTES = ['data', 'image'] as const

/** The prompt that was stored, with the bytes of its files. A file that was deleted becomes a text that says so. */
export async function restoredPrompt(stored: unknown, readFile: ReadFile): Promise<ModelMessage[]> {
  const messages: unknown[] = []
  for (const message of Array.isArray(stored) ? stored : []) {
    const { content } = message as { readonly content: unknown }
    const parts = Array.isArray(content) ? await Promise.all(content.map((part) => withBytes(part, readFile))) : content
    messages.push({ ...message, content: parts })
  }
  return messages as ModelMessage[]
}

async function withBytes(part: Readonly<Record<string, unknown>>, readFile: ReadFile): Promise<unknown> {
  for (const member of BYTES) {
    const url = part[member]
    if (typeof url !== 'string' || fileIdOf(url) === undefined) continue
    const bytes = await readFile(url)
    return bytes === undefined ? unreadable(url) : { ...part, [member]: bytes }
  }
  return part
}

/** One file that cannot be read must not stop every later turn of the conversation. */
export const unreadable = (url: string) => ({
  type: 'text',
  text: `[a file that cannot be read: ${url.slice(0, 200)}]`,
})
