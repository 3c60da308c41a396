export interface Block {
  readonly id?: string | undefined
  readonly event?: string
  readonly retryMs?: number
  readonly data: string
}

/** Formats one block of an event stream, including the blank line. */
export function formatBlock({ id, event, retryMs, data }: Block): string {
  let text = ''
  if (retryMs !== undefined) text += `retry: ${retryMs}\n`
  if (id !== undefined) text += `id: ${id}\n`
  if (event !== undefined) text += `event: ${event}\n`
  for (const line of data.split(/\r\n|\r|\n/)) text += line === '' ? 'data:\n' : `data: ${line}\n`
  return `${text}\n`
}

/** A comment, which keeps the connection alive and triggers no listener. */
export const HEARTBEAT = ': heartbeat\n\n'

/** Formats an event whose data is a single line. */
export const formatEventBlock = (id: string, event: string, data: string): string =>
  `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
