/** A place in the log of one database. */
export interface Cursor {
  readonly epoch: string
  readonly position: number
}

const EVENT_ID = /^([0-9a-zA-Z]{1,64})\.(\d{1,15})$/

/** `<epoch>.<position>`; opaque to clients. */
export const formatEventId = ({ epoch, position }: Cursor) => `${epoch}.${position}`

/** Reads an event id; `undefined` when it has not the form of one. */
export function parseEventId(text: string): Cursor | undefined {
  const match = EVENT_ID.exec(text)
  if (match === null) return undefined
  return { epoch: match[1] as string, position: Number(match[2]) }
}
