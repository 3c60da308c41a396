/** One event as a browser's EventSource dispatches it. Implemented independently of the code under test. */
interface Dispatched {
  readonly type: string
  readonly data: string
  readonly lastEventId: string
}

export interface EventSourceParser {
  readonly events: readonly Dispatched[]
  readonly comments: readonly string[]
  readonly retryMs: number | undefined
  readonly lastEventId: string
  feed(text: string): void
}

/** @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
export function createEventSourceParser(lastEventId = ''): EventSourceParser {
  const events: Dispatched[] = []
  const comments: string[] = []
  let rest = ''
  let id = lastEventId
  let retryMs: number | undefined
  let data: string[] = []
  let type = ''

  const dispatch = () => {
    if (data.length > 0) events.push({ type: type || 'message', data: data.join('\n'), lastEventId: id })
    data = []
    type = ''
  }
  const fields: Readonly<Record<string, (value: string) => void>> = {
    '': (value) => comments.push(value),
    data: (value) => data.push(value),
    event(value) {
      type = value
    },
    id(value) {
      if (!value.includes('\0')) id = value
    },
    retry(value) {
      if (/^\d+$/.test(value)) retryMs = Number(value)
    },
  }
  const interpret = (line: string) => {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
    fields[name]?.(value)
  }

  return {
    events,
    comments,
    get retryMs() {
      return retryMs
    },
    get lastEventId() {
      return id
    },
    feed(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') dispatch()
        else interpret(line)
      }
    },
  }
}
