import { type RawBuilder, sql } from 'kysely'

/**
 * The earlier of two clocks: the instant that the process names, and the clock of the database server. For statements that
 * end, start or delete what is due, which cannot be undone: a process whose clock is ahead does nothing early. A subquery
 * is evaluated once, so that an index applies.
 */
export const earlierClockText = (now: string): string => `(select least(${now}::bigint, ${SERVER_CLOCK}))`

/** As `earlierClockText`, for a parameter of a compiled query. */
export const earlierClock = (now: RawBuilder<number>): RawBuilder<number> =>
  sql<number>`(select least(${now}::bigint, ${sql.raw(SERVER_CLOCK)}))`

const SERVER_CLOCK = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
