export interface Block {
  readonly id?: string
  readonly event?: string
  readonly retryMs?: number
  readonly data: string
}

/** One block of an event stream, its blank line included. */
export function formatBlock({ id, event, retryMs, data }: Block): string {
  let text = ''
  if (retryMs !== undefined) text += `retry: ${retryMs}\n`
  if (id !== undefined) text += `id: ${id}\n`
  if (event !== undefined) text += `event: ${event}\n`
  for (const line of data.split(/\r\n|\r|\n/)) text += line === '' ? 'data:\n' : `data: ${line}\n`
  return `${text}\n`
}

/** A comment: keeps the connection alive and reaches no listener. */
export const HEARTBEAT = ': heartbeat\n\n'

/** What a stream is made of: text, or bytes that several streams share. */
export type SseChunk = string | Uint8Array

const encoder = new TextEncoder()
const BLOCK_END = encoder.encode('\n\n')

/** The block of an event whose data is one line already. */
export function formatEventBlock({
  id,
  event,
  data,
}: {
  readonly id: string
  readonly event: string
  readonly data: Uint8Array
}): Uint8Array {
  const head = encoder.encode(`id: ${id}\nevent: ${event}\ndata: `)
  const block = new Uint8Array(head.length + data.length + BLOCK_END.length)
  block.set(head)
  block.set(data, head.length)
  block.set(BLOCK_END, head.length + data.length)
  return block
}
