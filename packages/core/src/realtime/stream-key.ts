import type { EventStream, NewEvent } from '@perdure/ports'

/** A string that identifies a stream, for use as a map key. */
export function streamKey(stream: EventStream): string {
  if ('runId' in stream) return `run ${stream.runId}`
  return 'sessionId' in stream ? `session ${stream.sessionId}` : `topic ${stream.topic}`
}

/** For each event, the keys of every stream that carries it. */
export type StreamKeys = readonly (readonly string[])[]

/** Consecutive events that belong to the same streams share one array. */
export function streamKeysOfEach(events: readonly NewEvent[]): StreamKeys {
  let last: NewEvent | undefined
  let keys: readonly string[] = []
  return events.map((event) => {
    const { runId, sessionId, topic } = event
    const hasSameStreams =
      last !== undefined && runId === last.runId && sessionId === last.sessionId && topic === last.topic
    if (!hasSameStreams) keys = streamKeysOf(event)
    last = event
    return keys
  })
}

function streamKeysOf({ runId, sessionId, topic }: NewEvent): readonly string[] {
  const keys: string[] = []
  if (runId !== undefined) keys.push(streamKey({ runId }))
  if (sessionId !== undefined) keys.push(streamKey({ sessionId }))
  if (topic !== undefined) keys.push(streamKey({ topic }))
  return keys
}
