import type { Embedder, Logger, Timers } from '@perdure/ports'
import type { CheckStatus } from '@perdure/protocol'

export interface VectorsDeps {
  /** Without an embedder, a search uses words alone. */
  readonly embedder: Embedder | undefined
  readonly timers: Timers
  readonly logger: Logger
  readonly embedTimeoutMs: number
}

export interface EmbedderCheck {
  readonly status: Exclude<CheckStatus, 'fail'>
  readonly name?: string | undefined
  readonly message?: string | undefined
}

/** Wraps the embedder so that a failure of the embedder never rejects. */
export interface Vectors {
  readonly embedder: Embedder | undefined
  /** One unit vector per text; `undefined` if the embedder fails or times out. Never rejects. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[] | undefined>
  /** State for the health document: `warn` from a failure until the next success. */
  check(): EmbedderCheck
}

export function createVectors({ embedder, timers, logger, embedTimeoutMs }: VectorsDeps): Vectors {
  let failure: string | undefined

  return {
    embedder,
    async embed(texts) {
      if (embedder === undefined) return undefined
      const { promise: timedOut, reject: rejectOnTimeout } = Promise.withResolvers<never>()
      const aborter = new AbortController()
      const cancel = timers.after(embedTimeoutMs, () => {
        aborter.abort()
        rejectOnTimeout(new Error(`no answer within ${embedTimeoutMs} ms`))
      })
      try {
        const vectors = await Promise.race([requestVectors(embedder, texts, aborter.signal), timedOut])
        const units = toUnitVectors(embedder, texts, vectors)
        failure = undefined
        return units
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error)
        logger.warn('the embedder failed; search uses words alone', { embedder: embedder.name, failure })
        return undefined
      } finally {
        cancel()
      }
    },
    check() {
      if (embedder === undefined) return { status: 'disabled' }
      if (failure === undefined) return { status: 'ok', name: embedder.name }
      return { status: 'warn', name: embedder.name, message: `search uses words alone: ${failure}` }
    },
  }
}

/** `async`, so that a synchronous throw becomes a rejection. */
const requestVectors = async (embedder: Embedder, texts: readonly string[], signal: AbortSignal) =>
  embedder.embed(texts, { signal })

function toUnitVectors(
  { dimensions }: Embedder,
  texts: readonly string[],
  vectors: unknown,
): readonly (readonly number[])[] {
  if (!Array.isArray(vectors) || vectors.length !== texts.length) {
    throw new Error(`expected ${texts.length} vectors`)
  }
  return vectors.map((given: unknown) => {
    const vector = Array.from((given ?? []) as Iterable<unknown>, Number)
    if (vector.length !== dimensions || !vector.every(Number.isFinite)) {
      throw new Error(`expected vectors of ${dimensions} finite numbers`)
    }
    const length = Math.hypot(...vector)
    return length === 0 ? vector : vector.map((value) => value / length)
  })
}
