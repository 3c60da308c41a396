import type { StreamAnswer } from '@perdure/ports'

/** A stream that has its whole text at once. */
export const fixedStream = (text: string, headers: StreamAnswer['headers'] = {}): StreamAnswer => ({
  ...{ status: 200, headers },
  stream: {
    pipeTo(sink) {
      sink.write(text)
      sink.end()
    },
    cancel: () => undefined,
  },
})

export const eventStream = (text: string): StreamAnswer =>
  fixedStream(text, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-transform',
  })
