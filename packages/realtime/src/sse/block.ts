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

/** The block of an event whose data is one line already. */
export const formatEventBlock = (id: string, event: string, data: string): string =>
  `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
