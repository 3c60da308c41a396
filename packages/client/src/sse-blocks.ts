import { createParser } from 'eventsource-parser'

/** One block of an event stream, or a `retry:` field. */
export type SseBlock =
  | { readonly id: string | undefined; readonly event: string | undefined; readonly data: string }
  | { readonly retryMs: number }

export interface ReadSseOptions {
  /** Called whenever bytes arrive, including heartbeats. */
  readonly onBytes?: () => void
  /** Ends the iteration, even while it is waiting. */
  readonly signal?: AbortSignal
}

/**
 * Yields the blocks of a `text/event-stream` response in order, reading only as fast as it is iterated. Ends with the
 * response; an incomplete last block is dropped.
 */
export async function* readSseBlocks(
  body: ReadableStream<Uint8Array>,
  { onBytes, signal }: ReadSseOptions = {},
): AsyncGenerator<SseBlock, void, void> {
  const parsed: SseBlock[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => parsed.push({ id, event, data }),
    onRetry: (retryMs) => parsed.push({ retryMs }),
  })
  const decoder = new TextDecoder()
  const reader = body.getReader()
  const cancelReader = () => void reader.cancel().catch(() => {}) // the connection may already be closed
  signal?.addEventListener('abort', cancelReader)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes?.()
      parser.feed(decoder.decode(value, { stream: true }))
      yield* parsed.splice(0)
    }
  } finally {
    signal?.removeEventListener('abort', cancelReader)
    cancelReader()
  }
}
