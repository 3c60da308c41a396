import type { RunContext } from '@perdure/core'
import type { CallOptions } from '../model/model.ts'
import type { FindRun } from '../run.ts'
import { isObject } from '../sdk.ts'
import { isFileNotFound } from './read-file.ts'
import { unreadable } from './stored-prompt.ts'

/** The URLs of other servers that users have put into the chat of a run. */
const linked = new WeakMap<RunContext, Set<string>>()

/** The bytes that stand for a file which could not be loaded, with its URL. */
const missing = new WeakMap<Uint8Array, string>()

/** Makes the URL of a file in a message of a chat. */
export const linkerOf =
  (ctx: RunContext) =>
  (text: string): URL => {
    const url = new URL(text)
    linked.set(ctx, (linked.get(ctx) ?? new Set()).add(url.href))
    return url
  }

interface Wanted {
  readonly url: URL
  readonly isUrlSupportedByModel: boolean
}

/**
 * Loads what the model does not load itself, only from public addresses and the hosts of `files.allowHosts`. One link of a
 * user that leads nowhere must not stop every later turn of the chat, so the model is told that the file is missing.
 *
 * @throws PerdureError `file-not-found` if the code of the agent has chosen the URL
 */
export const downloadIn = (find: FindRun) => (wanted: readonly Wanted[]) =>
  Promise.all(wanted.map(({ url, isUrlSupportedByModel }) => (isUrlSupportedByModel ? null : load(find().ctx, url))))

async function load(ctx: RunContext, url: URL) {
  try {
    return { data: await ctx.files.read(url.href), mediaType: undefined }
  } catch (error) {
    if (!isFileNotFound(error) || linked.get(ctx)?.has(url.href) !== true) throw error
    const data = new Uint8Array()
    missing.set(data, url.href)
    return { data, mediaType: undefined }
  }
}

/** The call with a text in place of each file that could not be loaded. */
export function withMissingFiles<Call extends CallOptions>(call: Call): Call {
  if (!Array.isArray(call.prompt)) return call
  return { ...call, prompt: call.prompt.map(told) }
}

function told(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message.content)) return message
  const content = message.content.map((part: unknown) => {
    const url = isObject(part) && part.type === 'file' ? missingUrlOf(part.data) : undefined
    return url === undefined ? part : unreadable(url)
  })
  return { ...message, content }
}

/** Version 7 wraps the bytes of a file. */
function missingUrlOf(data: unknown): string | undefined {
  const bytes = isObject(data) && !(data instanceof Uint8Array) ? data.data : data
  return bytes instanceof Uint8Array ? missing.get(bytes) : undefined
}
