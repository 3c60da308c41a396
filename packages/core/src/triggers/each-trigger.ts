import type { TriggerRecord, TriggerStore } from '@perdure/ports'

/** Yields every trigger, oldest first, reading page by page. */
export async function* eachTrigger(triggers: TriggerStore): AsyncGenerator<TriggerRecord> {
  let cursor: string | undefined
  do {
    const page = await triggers.list({ limit: 200, order: 'asc', cursor })
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
