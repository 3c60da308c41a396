import type { EventSource, Followed } from '@perdure/core'
import type { EventLog, LogHead } from '@perdure/ports'
import { findStartingPoint, type StartingPoint } from './starting-point.ts'

/** A subject that is about to be read. */
export interface Opened {
  readonly source: EventSource
  readonly start: StartingPoint
  /** The log as it was then. */
  readonly head: LogHead
}

/** Finds out where a reader of the subject starts. */
export async function openSource(
  events: EventLog,
  { subject, stream, startsAt }: Followed,
  lastEventId: string | undefined,
): Promise<Opened> {
  const head = await events.head()
  const firstAfter = async (after: number) => (await events.read(stream, { after, limit: 1 }))[0]
  const start = await findStartingPoint(head, { lastEventId, startsAt }, firstAfter)
  return { source: { stream, subject, epoch: head.epoch }, start, head }
}
