import type { EventLog, EventStream, StoredEvent } from '@perdure/ports'

/** How much of the log is read at once: payloads up to about this length in all, or one longer event. Characters. */
export const BATCH_LENGTH = 256 * 1024
const BATCH_LIMIT = 200

export interface EventSpan {
  readonly stream: EventStream
  /** Position of the last event to read. */
  readonly through: number
}

/**
 * Yields every event up to a position, oldest first, each as `show` returns it. Reads the next batch only when the
 * caller has taken the previous one: a slow reader holds one small batch, or one long event, however long the log is.
 */
export async function* eachEvent<T>(
  events: Pick<EventLog, 'read'>,
  { stream, through }: EventSpan,
  show: (event: StoredEvent) => T,
): AsyncGenerator<T, void, void> {
  let after = 0
  while (after < through) {
    const read = withoutLongEnd(
      await events.read(stream, { after, limit: BATCH_LIMIT, maxLength: BATCH_LENGTH }),
    ).filter(({ position }) => position <= through)
    after = read.at(-1)?.position ?? through
    const batch = read.map(show)
    // Each item is released before the caller gets it, because a slow reader may keep this generator for minutes.
    for (let next = batch.shift(); next !== undefined; next = batch.shift()) yield next
  }
}

/** Leaves out the last event of a batch if it made the batch too long: it is read again, as a batch of its own. */
function withoutLongEnd(batch: readonly StoredEvent[]): readonly StoredEvent[] {
  const length = batch.reduce((sum, { payload }) => sum + payload.length, 0)
  return batch.length > 1 && length > BATCH_LENGTH ? batch.slice(0, -1) : batch
}
