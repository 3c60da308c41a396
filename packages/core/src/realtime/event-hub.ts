import type { EventStream, StoredEvent, UnitOfWork } from '@berth/ports'

/** Wakes readers of the event log. It carries no events: a reader is a position in the log and reads from there. */
export interface EventHub {
  /** Tells every watcher of every stream these events belong to. Called after they are durable. */
  publish(events: readonly StoredEvent[]): void
  /** Calls `wake` after each publication to the stream. Returns a function that ends it. */
  watch(stream: EventStream, wake: () => void): () => void
}

export function createEventHub(): EventHub {
  const watchers = new Map<string, Set<() => void>>()

  return {
    publish(events) {
      const keys = new Set(events.flatMap(keysOf))
      for (const key of keys) for (const wake of watchers.get(key) ?? []) wake()
    },
    watch(stream, wake) {
      const key = keyOf(stream)
      const set = watchers.get(key) ?? new Set()
      watchers.set(key, set.add(wake))
      return () => {
        set.delete(wake)
        if (set.size === 0 && watchers.get(key) === set) watchers.delete(key)
      }
    },
  }
}

/** Publishes the events of every commit once it is durable. */
export function withPublication(unitOfWork: UnitOfWork, hub: EventHub): UnitOfWork {
  return {
    async commit(writes) {
      const outcome = await unitOfWork.commit(writes)
      if (outcome.committed && outcome.events.length > 0) hub.publish(outcome.events)
      return outcome
    },
  }
}

function keyOf(stream: EventStream): string {
  if ('runId' in stream) return `run ${stream.runId}`
  return 'sessionId' in stream ? `session ${stream.sessionId}` : `topic ${stream.topic}`
}

function keysOf({ runId, sessionId, topic }: StoredEvent): string[] {
  const keys: string[] = []
  if (runId !== undefined) keys.push(keyOf({ runId }))
  if (sessionId !== undefined) keys.push(keyOf({ sessionId }))
  if (topic !== undefined) keys.push(keyOf({ topic }))
  return keys
}
