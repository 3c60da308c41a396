import { fieldsOf, type LogEvent } from '@perdure/core'
import { isAgentEventType, jsonSize } from '@perdure/protocol'

/** The type of the event that stands for everything that a limited log leaves out. */
export const TRUNCATED = 'perdure.truncated'

/** The payload of that event. */
export interface Truncation {
  readonly message: string
  /** The path of the operation that returns the whole log. */
  readonly rest: string
}

export interface LogLimitOptions {
  readonly runId: string
  /** How much of the log is shown: the length of its payloads in JSON. */
  readonly maxBytes: number
  readonly basePath: string
}

/**
 * Limits the log of a run to what one answer may show. Beyond the limit, only the events remain that decide what state
 * the run is in and what it asks for, so that memory is bounded however long the log is. The remaining events
 * follow from the log alone: every reader, and a reader that resumes, gets the same events.
 */
export interface LogLimit {
  /** Whether the event may remain, so that it must be read. */
  needs(type: string): boolean
  /** The events that remain of the next event of the log. The first one that is left out leaves a mark. */
  take(event: LogEvent): readonly LogEvent[]
  /** Size of the events that have remained so far. */
  bytes(): number
}

/** A longer member of an answer beyond the limit is left out. */
const SHORT_BYTES = 1_024
/** What an event costs besides its payload: an item in memory, and frames that name it. */
const EVENT_BYTES = 1_024

export function createLogLimit({ runId, maxBytes, basePath }: LogLimitOptions): LogLimit {
  let bytes = 0
  let isTruncated = false
  let unshown: unknown

  const truncate = ({ eventId, at }: LogEvent): readonly LogEvent[] => {
    if (isTruncated) return []
    isTruncated = true
    const message = `only the first ${maxBytes} bytes of this run are shown`
    const payload: Truncation = { message, rest: `${basePath}/runs/${runId}/events` }
    return [{ eventId, at, type: TRUNCATED, payload }]
  }

  const isBeyond = (size: number) => bytes + size > maxBytes

  /** A question that is not shown as a whole is not shown at all, so that nobody approves what they have not seen. */
  const takeRequest = (event: LogEvent): readonly LogEvent[] => {
    const { approvalId, toolCallId } = fieldsOf(event)
    const size = sizeOf(event)
    const isTwin = event.type === 'tool.approval.requested'
    // Its twin repeats the question of a tool call, and either both are shown or none is.
    const needed = toolCallId === undefined || isTwin ? size : 2 * size
    if ((isTwin && approvalId === unshown) || bytes + needed > 2 * maxBytes) {
      unshown = approvalId
      return []
    }
    bytes += size
    return [event]
  }

  return {
    needs: (type) => !isTruncated || isState(type) || isQuestion(type),
    take(event) {
      const isText = isTextDelta(event.type)
      if (!isText && isState(event.type)) return [event]
      if (isTruncated && !isQuestion(event.type)) return []
      const size = sizeOf(event)
      if (!isTruncated && !isBeyond(size)) {
        bytes += size
        return [event]
      }
      const mark = truncate(event)
      if (!isQuestion(event.type)) return mark
      if (isRequest(event.type)) return [...mark, ...takeRequest(event)]
      const short = shortened(event)
      // Questions have as much room again.
      if (bytes + sizeOf(short) > 2 * maxBytes) return mark
      bytes += sizeOf(short)
      return [...mark, short]
    },
    bytes: () => bytes,
  }
}

/** Most events of a run are pieces of a text, so they take the shortest way. They bring no error and ask nothing. */
export const isTextDelta = (type: string): boolean => type === 'text.delta' || type === 'reasoning.delta'

/** The events of which a fold keeps only the newest. */
const isState = (type: string): boolean =>
  (type.startsWith('run.') && !type.startsWith('run.child.')) || type.startsWith('step.') || type === 'usage'

/** The events that ask the client for something, or answer it. */
const isQuestion = (type: string): boolean =>
  type.startsWith('approval.') || type === 'tool.approval.requested' || type === 'tool.result'

const isRequest = (type: string): boolean => type === 'approval.requested' || type === 'tool.approval.requested'

function sizeOf(event: LogEvent): number {
  const { delta } = fieldsOf(event)
  if (typeof delta === 'string' && isAgentEventType(event.type)) return delta.length
  return EVENT_BYTES + (jsonSize(event.payload, Number.POSITIVE_INFINITY)?.bytes ?? Number.POSITIVE_INFINITY)
}

function shortened(event: LogEvent): LogEvent {
  const members = Object.entries(fieldsOf(event)).map(([name, value]) => {
    const isShort = jsonSize(value, SHORT_BYTES) !== undefined
    return [name, isShort ? value : '[left out: the answer would be too long]'] as const
  })
  return { ...event, payload: Object.fromEntries(members) }
}
