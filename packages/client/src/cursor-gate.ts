/** Tracks a subscription's position in the log and filters out events it has already delivered. */
export interface CursorGate {
  /** Event id to resume from; `undefined` until the server sends one. */
  cursor(): string | undefined
  /** Sets a position the server sent without an event. Never moves backwards. */
  prime(eventId: string): void
  /** Reports whether the event is new; a new event becomes the cursor. */
  admits(eventId: string): boolean
  /**
   * Records a gap, after which every event counts as new. Returns false if the same gap was already reported and no
   * event has arrived since.
   */
  admitsGap(lastEventId: string): boolean
}

interface Position {
  readonly epoch: string
  readonly number: number
}

/**
 * Event ids are `<epoch>.<position>`; positions increase within an epoch. An id in another form is only compared for
 * equality with the last id.
 */
export function createCursorGate(lastEventId: string | undefined): CursorGate {
  let cursor = lastEventId
  // True after a gap: the log may have restarted below the cursor, so the next event is admitted at any position.
  let isOpen = false
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

/** Whether the cursor is at or past the event. False if their ids cannot be compared. */
export function isAtOrAfter(cursor: string, eventId: string): boolean {
  const gate = createCursorGate(cursor)
  return !gate.admits(eventId)
}
