import { createParser } from 'eventsource-parser'

/** One block of an event stream, or what stands between them. */
export type SseBlock =
  | { readonly id: string | undefined; readonly event: string | undefined; readonly data: string }
  | { readonly retryMs: number }

export interface SseReading {
  /** Called whenever something arrives, heartbeats included. */
  readonly onBytes?: () => void
  /** Ends it, also while it waits. */
  readonly signal?: AbortSignal
}

/**
 * The blocks of a response of `text/event-stream`, in order, read only as fast as it is iterated. Ends with the response;
 * a block that broke off is left out.
 */
export async function* readSseBlocks(
  body: ReadableStream<Uint8Array>,
  { onBytes, signal }: SseReading = {},
): AsyncGenerator<SseBlock, void, void> {
  const parsed: SseBlock[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => parsed.push({ id, event, data }),
    onRetry: (retryMs) => parsed.push({ retryMs }),
  })
  const decoder = new TextDecoder()
  const reader = body.getReader()
  const leave = () => void reader.cancel().catch(() => {}) // the connection may be gone already
  signal?.addEventListener('abort', leave)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes?.()
      parser.feed(decoder.decode(value, { stream: true }))
      yield* parsed.splice(0)
    }
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
  }
}
