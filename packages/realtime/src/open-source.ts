import type { AuthorizedSubject, EventSource } from '@perdure/core'
import type { EventLog, LogHead } from '@perdure/ports'
import { findStartingPoint, type StartingPoint } from './starting-point.ts'

/** The event source of a subject, with the position at which the reader starts. */
export interface OpenedSource {
  readonly source: EventSource
  readonly start: StartingPoint
  /** Head of the log when the subject was opened. */
  readonly head: LogHead
}

/** Determines where a reader of the subject starts. */
export async function openSource(
  events: EventLog,
  { subject, stream, startsAt }: AuthorizedSubject,
  lastEventId: string | undefined,
): Promise<OpenedSource> {
  const head = await events.head()
  const firstAfter = async (after: number) => (await events.read(stream, { after, limit: 1 }))[0]
  const start = await findStartingPoint(head, { lastEventId, startsAt }, firstAfter)
  return { source: { stream, subject, epoch: head.epoch }, start, head }
}
