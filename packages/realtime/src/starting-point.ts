import { formatEventId, parseEventId } from '@perdure/core'
import type { LogHead, StoredEvent } from '@perdure/ports'

/** What a reader is told when its cursor does not say where it left off. */
interface Gap {
  /** Id of the oldest event that can still be read; null when there is none. */
  readonly firstAvailable: string | null
  /** The cursor it came with, cut to a sane length. */
  readonly lastEventId: string
}

export interface StartingPoint {
  /** Exclusive position to read from. */
  readonly after: number
  /** Event id a reader owns before the first event; reconnecting with it repeats and loses nothing. */
  readonly cursor: string
  readonly gap?: Gap
}

/** The oldest event of the stream after a position. */
export type FirstAfter = (position: number) => Promise<StoredEvent | undefined>

/** Where a reader without a cursor starts: at the first event of the stream, or with what comes from now on. */
export type StartsAt = 'first' | 'head'

export interface Reading {
  readonly lastEventId: string | undefined
  readonly startsAt: StartsAt
}

const MAX_ECHO = 128

/**
 * Where a reader starts: with a cursor right after it, without one where `startsAt` says. A cursor that is malformed, of
 * another database, ahead of the log or older than retention is a gap, followed by what is available.
 */
export async function findStartingPoint(
  head: LogHead,
  { lastEventId, startsAt }: Reading,
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
    gap: { firstAvailable, lastEventId: lastEventId.slice(0, MAX_ECHO) },
  }
}

/** The newest position that lies before `first` and is, if possible, not older than retention. */
const positionBefore = (first: StoredEvent | undefined, trimmedThrough: number): number =>
  first === undefined ? trimmedThrough : Math.min(trimmedThrough, first.position - 1)
