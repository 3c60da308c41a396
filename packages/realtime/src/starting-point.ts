import { formatEventId, parseEventId } from '@perdure/core'
import type { LogHead, StoredEvent } from '@perdure/ports'

/** Reported to a reader whose cursor cannot be resumed. */
interface Gap {
  /** Id of the oldest event still available; null if there is none. */
  readonly firstAvailable: string | null
  /** The cursor the reader sent, truncated. */
  readonly lastEventId: string
}

export interface StartingPoint {
  /** Exclusive position to read from. */
  readonly after: number
  /**
   * Cursor of a reader that has not received an event yet. Reconnecting with this cursor repeats and skips no event.
   */
  readonly cursor: string
  readonly gap?: Gap
}

/** Reads the oldest event of the stream after a position. */
export type FirstAfter = (position: number) => Promise<StoredEvent | undefined>

/** Where a reader without a cursor starts: at the first event of the stream, or at the head of the log. */
export type StartsAt = 'first' | 'head'

export interface StartOptions {
  readonly lastEventId: string | undefined
  readonly startsAt: StartsAt
}

const MAX_ECHOED_CURSOR = 128

/**
 * Determines where a reader starts: right after its cursor, or at `startsAt` if it sent no cursor. A cursor that is
 * malformed, from another database, ahead of the log or before the oldest retained event is reported as a gap; the
 * reader then gets the available events.
 */
export async function findStartingPoint(
  head: LogHead,
  { lastEventId, startsAt }: StartOptions,
  firstAfter: FirstAfter,
): Promise<StartingPoint> {
  const { epoch, trimmedThrough } = head
  if (lastEventId === undefined) {
    const after = startsAt === 'head' ? head.position : positionBefore(await firstAfter(0), trimmedThrough)
    return { after, cursor: formatEventId({ epoch, position: after }) }
  }

  const cursor = parseEventId(lastEventId)
  const isOfThisLog = cursor?.epoch === epoch && cursor.position <= head.position
  if (isOfThisLog && cursor.position >= trimmedThrough) return { after: cursor.position, cursor: lastEventId }

  const known = isOfThisLog ? cursor.position : 0
  const first = await firstAfter(known)
  const after = Math.max(known, positionBefore(first, trimmedThrough))
  const firstAvailable = first === undefined ? null : formatEventId({ epoch, position: first.position })
  return {
    after,
    cursor: formatEventId({ epoch, position: after }),
    gap: { firstAvailable, lastEventId: lastEventId.slice(0, MAX_ECHOED_CURSOR) },
  }
}

/** The position through which retention has deleted events, or the position right before `first` if that is lower. */
const positionBefore = (first: StoredEvent | undefined, trimmedThrough: number): number =>
  first === undefined ? trimmedThrough : Math.min(trimmedThrough, first.position - 1)
