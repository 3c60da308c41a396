import type { RunContext } from '@perdure/core'

/** The bytes of the stored file to which a URL of a message leads; `undefined` if it was deleted. */
export type ReadFile = (url: string) => Promise<Uint8Array | undefined>

/** The URLs of files whose bytes are in a prompt, so that a summary keeps the reference and not a copy. */
const urls = new WeakMap<Uint8Array, string>()

export const storedUrlOf = (bytes: Uint8Array): string | undefined => urls.get(bytes)

export const isFileNotFound = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === 'file-not-found'

export const readerOf =
  (ctx: RunContext): ReadFile =>
  async (url) => {
    try {
      const bytes = await ctx.files.read(url)
      urls.set(bytes, url)
      return bytes
    } catch (error) {
      if (!isFileNotFound(error)) throw error
      return undefined
    }
  }
