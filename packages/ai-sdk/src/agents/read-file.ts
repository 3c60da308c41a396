import type { RunContext } from '@perdure/core'

/** Reads the stored file to which a URL of a message leads. */
export const readerOf = (ctx: RunContext) => (url: string) => ctx.files.read(url)
