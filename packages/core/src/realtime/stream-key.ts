import type { EventStream, NewEvent } from '@berth/ports'

/** One name for a stream, whatever carries it. */
export function streamKey(stream: EventStream): string {
  if ('runId' in stream) return `run ${stream.runId}`
  return 'sessionId' in stream ? `session ${stream.sessionId}` : `topic ${stream.topic}`
}

/** Every stream that carries the event. */
export function streamKeysOf({ runId, sessionId, topic }: NewEvent): readonly string[] {
  const keys: string[] = []
  if (runId !== undefined) keys.push(streamKey({ runId }))
  if (sessionId !== undefined) keys.push(streamKey({ sessionId }))
  if (topic !== undefined) keys.push(streamKey({ topic }))
  return keys
}
