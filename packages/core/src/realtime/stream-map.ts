import type { EventStream } from '@perdure/ports'

/** The kinds of streams, each by the member of an event that names the stream. */
export const STREAM_KINDS = ['runId', 'sessionId', 'topic'] as const

export interface StreamName {
  readonly kind: (typeof STREAM_KINDS)[number]
  readonly id: string
}

export function nameOfStream(stream: EventStream): StreamName {
  if ('runId' in stream) return { kind: 'runId', id: stream.runId }
  return 'sessionId' in stream ? { kind: 'sessionId', id: stream.sessionId } : { kind: 'topic', id: stream.topic }
}

/** Values by stream. Looked up by the ids in the events themselves, because a joined key would cost more per event. */
export interface StreamMap<Value> {
  get(name: StreamName): Value | undefined
  find(kind: StreamName['kind'], id: string): Value | undefined
  set(name: StreamName, value: Value): void
  delete(name: StreamName): void
  clear(): void
  values(): Iterable<Value>
  ids(kind: StreamName['kind']): readonly string[]
  size(): number
}

export function createStreamMap<Value>(): StreamMap<Value> {
  const maps = { runId: new Map<string, Value>(), sessionId: new Map<string, Value>(), topic: new Map<string, Value>() }
  const all = Object.values(maps)

  return {
    get: ({ kind, id }) => maps[kind].get(id),
    find: (kind, id) => maps[kind].get(id),
    set: ({ kind, id }, value) => void maps[kind].set(id, value),
    delete: ({ kind, id }) => void maps[kind].delete(id),
    clear() {
      for (const map of all) map.clear()
    },
    *values() {
      for (const map of all) yield* map.values()
    },
    ids: (kind) => [...maps[kind].keys()],
    size: () => all.reduce((sum, { size }) => sum + size, 0),
  }
}
