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
  return `${text}${formatData(data)}\n`
}

function formatData(data: string): string {
  // Nearly all data is JSON on one line.
  if (data !== '' && !data.includes('\n') && !data.includes('\r')) return `data: ${data}\n`
  let lines = ''
  for (const line of data.split(/\r\n|\r|\n/)) lines += line === '' ? 'data:\n' : `data: ${line}\n`
  return lines
}

/** A comment, which keeps the connection alive and triggers no listener. */
export const HEARTBEAT = ': heartbeat\n\n'

/** Formats an event whose data is a single line. */
export const formatEventBlock = (id: string, event: string, data: string): string =>
  `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
