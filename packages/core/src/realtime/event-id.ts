/** A position in the event log of one database. */
export interface Cursor {
  readonly epoch: string
  readonly position: number
}

const EVENT_ID = /^([0-9a-zA-Z]{1,64})\.(\d{1,15})$/

/** `<epoch>.<position>`; opaque to clients. */
export const formatEventId = ({ epoch, position }: Cursor) => `${epoch}.${position}`

/** Parses an event id; `undefined` if the text is not well-formed. */
export function parseEventId(text: string): Cursor | undefined {
  const match = EVENT_ID.exec(text)
  if (match === null) return undefined
  return { epoch: match[1] as string, position: Number(match[2]) }
}
