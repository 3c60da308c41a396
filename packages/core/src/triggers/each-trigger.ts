import type { TriggerRecord, TriggerStore } from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'

/** Yields every trigger, oldest first, reading page by page. */
export const eachTrigger = (triggers: TriggerStore): AsyncGenerator<TriggerRecord, void, void> =>
  eachItem((cursor) => triggers.list({ limit: 200, order: 'asc', cursor }))
