import type { TailedEvent } from '@perdure/ports'

/**
 * The positions of the event log that this process has published. If a position stays unpublished, another process on
 * the same storage has written it.
 */
export interface LogCoverage {
  /** Adds the events of one commit. Commits may be added out of order. */
  add(events: readonly Pick<TailedEvent, 'position'>[]): void
  /** Counts every position up to this one as published. */
  coverThrough(position: number): void
  /**
   * Whether a position up to this one was not published. May be true for a while after commits were published out of
   * order, until `coverThrough`.
   */
  misses(position: number): boolean
}

/** Uses constant memory: it remembers one range behind the first gap, and forgets it when a second gap follows. */
export function createLogCoverage(): LogCoverage {
  let through = 0
  let ahead: { readonly from: number; readonly to: number } | undefined

  const coverThrough = (position: number) => {
    through = Math.max(through, position)
    if (ahead === undefined || ahead.from > through + 1) return
    through = Math.max(through, ahead.to)
    ahead = undefined
  }

  return {
    add(events) {
      for (const { position } of events) {
        if (position <= through + 1) coverThrough(position)
        else ahead = { from: position === (ahead?.to ?? 0) + 1 ? (ahead?.from ?? position) : position, to: position }
      }
    },
    coverThrough,
    misses: (position) => position > through,
  }
}
