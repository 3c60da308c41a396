const EVENT_STREAM = 'text/event-stream'

/** Whether the answer ends only when the client disconnects, or when the server ends it. */
export const isEventStream = (headers: Headers): boolean =>
  headers.get('content-type')?.startsWith(EVENT_STREAM) === true
