import type { EventCollector, EventSource } from '../durable/event-collector.ts'
import type { HeldStart } from './held-start.ts'

/** Collects the events of a run whose start is held: the first ones seal the start, and are collected once it is stored. */
export function collectAfterStart(
  collector: EventCollector,
  start: Pick<HeldStart, 'isStored' | 'seal'>,
): EventCollector {
  const waiting = new Set<EventSource>()

  const addOnceSealed = async (source: EventSource) => {
    waiting.add(source)
    await start.seal()
    if (waiting.delete(source)) collector.add(source)
  }

  return {
    add(source) {
      if (start.isStored()) collector.add(source)
      else void addOnceSealed(source)
    },
    remove(source) {
      waiting.delete(source)
      collector.remove(source)
    },
    isCrowded: collector.isCrowded,
  }
}
