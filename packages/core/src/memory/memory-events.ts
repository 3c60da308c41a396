import { type EpochMs, type FactRecord, type MemoryConflictRecord, toJsonText, type Write } from '@perdure/ports'
import { formatSubject } from '@perdure/protocol'
import { toConflictResource, toFactResource } from './memory-resources.ts'

/** The subject of events about facts and their consolidation. */
export const MEMORY_TOPIC = formatSubject('memory', {})

export const CONFLICT_TOPIC = formatSubject('memoryConflicts', {})

export const factEvent = (
  type: 'memory.fact.written' | 'memory.fact.deleted',
  fact: FactRecord,
  at: EpochMs,
): Write => ({
  type: 'event.append',
  events: [{ topic: MEMORY_TOPIC, type, payload: toJsonText(toFactResource(fact)), at }],
})

export const conflictEvent = (conflict: MemoryConflictRecord, facts: readonly FactRecord[], at: EpochMs): Write => ({
  type: 'event.append',
  events: [
    {
      topic: CONFLICT_TOPIC,
      type: 'memory.conflict',
      payload: toJsonText(toConflictResource(conflict, facts)),
      at,
    },
  ],
})
