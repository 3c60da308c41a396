import type { Embedder, Logger, Timers } from '@perdure/ports'

export interface VectorsDeps {
  /** None: there is nothing but search by words. */
  readonly embedder: Embedder | undefined
  readonly timers: Timers
  readonly logger: Logger
  readonly embedTimeoutMs: number
}

export interface EmbedderCheck {
  readonly status: 'ok' | 'warn' | 'disabled'
  readonly name?: string | undefined
  readonly message?: string | undefined
}

/** The embedder with its failures made harmless. */
export interface Vectors {
  readonly embedder: Embedder | undefined
  /** One vector of length 1 per text; `undefined` when the embedder fails or takes too long. Never rejects. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[] | undefined>
  /** Its state for the health document: `warn` from a failure until the next success. */
  check(): EmbedderCheck
}

export function createVectors({ embedder, timers, logger, embedTimeoutMs }: VectorsDeps): Vectors {
  let failure: string | undefined

  return {
    embedder,
    async embed(texts) {
      if (embedder === undefined) return undefined
      const { promise: late, reject: giveUp } = Promise.withResolvers<never>()
      const aborter = new AbortController()
      const cancel = timers.after(embedTimeoutMs, () => {
        aborter.abort()
        giveUp(new Error(`no answer within ${embedTimeoutMs} ms`))
      })
      try {
        const vectors = await Promise.race([asked(embedder, texts, aborter.signal), late])
        const units = checkedUnits(embedder, texts, vectors)
        failure = undefined
        return units
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error)
        logger.warn('the embedder failed: search goes by words alone', { embedder: embedder.name, failure })
        return undefined
      } finally {
        cancel()
      }
    },
    check() {
      if (embedder === undefined) return { status: 'disabled' }
      if (failure === undefined) return { status: 'ok', name: embedder.name }
      return { status: 'warn', name: embedder.name, message: `search goes by words alone: ${failure}` }
    },
  }
}

/** Also what it throws at once becomes a rejection. */
const asked = async (embedder: Embedder, texts: readonly string[], signal: AbortSignal) =>
  embedder.embed(texts, { signal })

function checkedUnits(
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
