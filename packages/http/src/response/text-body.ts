import type { TextStream } from '@perdure/ports'

const BUFFERED_BYTES = 65_536

/** The stream as the body of a `Response`, for callers of `fetch`. */
export function toTextBody(stream: TextStream): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let resume = () => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stream.pipeTo({
          hasRoom: () => (controller.desiredSize ?? 0) > 0,
          write: (text) => controller.enqueue(encoder.encode(text)),
          onDrain(callback) {
            resume = callback
          },
          end: () => controller.close(),
          fail: (error) => controller.error(error),
        })
      },
      pull: () => resume(),
      cancel: () => stream.cancel(),
    },
    { highWaterMark: BUFFERED_BYTES, size: ({ byteLength }) => byteLength },
  )
}
