import { ownedController } from './linked-signal.ts'
import type { Part } from './model.ts'

/** How long a streamed answer may pause, in milliseconds; unlimited when missing. */
export interface ChunkLimits {
  /** Until the first part with content, from the moment in which the provider begins to stream. */
  readonly firstMs?: number | undefined
  /** Between two parts with content. */
  readonly nextMs?: number | undefined
}

interface ChunkWatch {
  /** Aborts with the try, and when a limit is reached. */
  readonly signal: AbortSignal
  /** Notes a part of the answer. */
  note(part: Part): void
  /** Rejects when a limit is reached before the answer has ended. */
  during<T>(answer: () => Promise<T>): Promise<T>
}

/**
 * Honours `firstChunkMs` and `chunkMs` in place of the SDK, which merges their signal with that of the call and listens to it:
 * such a signal keeps the code of a suspended run in memory.
 */
export function watchChunks({ firstMs, nextMs }: ChunkLimits, ofTry: AbortSignal): ChunkWatch {
  if (firstMs === undefined && nextMs === undefined)
    return { signal: ofTry, note: () => undefined, during: (fn) => fn() }
  const controller = ownedController(ofTry)
  const { promise: late, reject } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  let hasBegun = false

  const limit = (what: string, ms: number | undefined) => {
    clearTimeout(timer)
    if (ms === undefined) return
    timer = setTimeout(() => {
      const error = new DOMException(`${what} timeout of ${ms}ms exceeded`, 'TimeoutError')
      reject(error)
      controller.abort(error)
    }, ms)
  }

  return {
    signal: controller.signal,
    note({ type }) {
      if (NO_CONTENT.has(type)) return
      if (hasBegun) return void timer?.refresh()
      hasBegun = true
      limit('Chunk', nextMs)
    },
    async during(answer) {
      limit('First chunk', firstMs)
      try {
        return await Promise.race([answer(), late])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

const NO_CONTENT: ReadonlySet<unknown> = new Set(['stream-start', 'response-metadata', 'raw', 'error', 'finish'])
