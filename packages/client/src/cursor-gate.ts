/** Where a subscription is in the log, and so which events it has not seen yet. */
export interface CursorGate {
  /** What to resume from; `undefined` before the server gave a cursor. */
  cursor(): string | undefined
  /** Takes a position that comes without an event. Never moves back. */
  prime(eventId: string): void
  /** Whether the event is new; if so, it is the cursor from now on. */
  admits(eventId: string): boolean
  /** Takes a gap after a cursor, after which any event is new. False when it was told already, with no event since. */
  admitsGap(lastEventId: string): boolean
}

interface Position {
  readonly epoch: string
  readonly number: number
}

/**
 * Ids are `<epoch>.<position>`, and positions grow within an epoch. An id of another form is told apart from the last one
 * only.
 */
export function createCursorGate(lastEventId: string | undefined): CursorGate {
  let cursor = lastEventId
  let isOpen = false // after a gap: the log may have begun anew below the cursor
  let lastGap: string | undefined

  const isBehind = (eventId: string): boolean => {
    if (cursor === undefined) return false
    if (cursor === eventId) return true
    const [last, next] = [parsePosition(cursor), parsePosition(eventId)]
    return last !== undefined && next !== undefined && last.epoch === next.epoch && next.number <= last.number
  }

  return {
    cursor: () => cursor,
    prime(eventId) {
      if (!isBehind(eventId)) cursor = eventId
    },
    admits(eventId) {
      if (!isOpen && isBehind(eventId)) return false
      cursor = eventId
      isOpen = false
      lastGap = undefined
      return true
    },
    admitsGap(from) {
      isOpen = true
      if (from === lastGap) return false
      lastGap = from
      return true
    },
  }
}

function parsePosition(eventId: string): Position | undefined {
  const match = /^(.+)\.(\d{1,15})$/.exec(eventId)
  return match?.[1] === undefined ? undefined : { epoch: match[1], number: Number(match[2]) }
}

/** Whether a cursor lies at the event or after it, as far as their ids tell. */
export function isAtOrAfter(cursor: string, eventId: string): boolean {
  const gate = createCursorGate(cursor)
  return !gate.admits(eventId)
}
