import { holderOf } from '@perdure/core'
import { perdureError } from '@perdure/ports'

/** The place of a stream that is counted before it is opened. */
export interface StreamPlace {
  /** Frees the place, unless a stream has taken it. */
  release(): void
}

export interface StreamLimits {
  readonly maxStreams: number
  readonly maxStreamsPerToken: number
}

/** The open streams, limited in all and for each token; the JWTs of a user count as one token. */
export interface OpenStreams {
  /**
   * Counts a stream; `end` ends it. Without a token, only the total is limited.
   *
   * @returns a function that releases the stream; idempotent
   * @throws PerdureError `overloaded`
   */
  claim(end: () => void, tokenId: string | undefined): () => void
  /**
   * Counts a stream that is not yet open, so that what leads to it cannot be refused later for want of a place.
   *
   * @throws PerdureError `overloaded`
   */
  reserve(tokenId: string | undefined): StreamPlace
  /** Opens a stream in a place that `reserve` has returned. @returns a function that releases the stream; idempotent */
  take(place: StreamPlace, end: () => void): () => void
  /** Ends every stream, and refuses new streams. */
  closeAll(): void
  size(): number
}

const RETRY_AFTER_MS = 1_000

export function createOpenStreams({ maxStreams, maxStreamsPerToken }: StreamLimits): OpenStreams {
  const open = new Set<() => void>()
  const byToken = new Map<string, number>()
  let isClosed = false

  const release = (end: () => void, holder: string | undefined) => {
    if (!open.delete(end) || holder === undefined) return
    const left = (byToken.get(holder) ?? 1) - 1
    if (left === 0) byToken.delete(holder)
    else byToken.set(holder, left)
  }

  const reserved = new WeakMap<StreamPlace, Reserved>()

  const streams: OpenStreams = {
    reserve(tokenId) {
      const one: Reserved = { end: () => place.release(), isTaken: false, free: () => undefined }
      const free = streams.claim(() => one.end(), tokenId)
      one.free = free
      const place: StreamPlace = { release: () => (one.isTaken ? undefined : free()) }
      reserved.set(place, one)
      return place
    },
    take(place, end) {
      const one = reserved.get(place)
      if (one === undefined || one.isTaken) throw new Error('the place of a stream can be taken once')
      if (isClosed) throw perdureError('overloaded', { retryAfter: RETRY_AFTER_MS })
      Object.assign(one, { end, isTaken: true })
      return one.free
    },
    claim(end, tokenId) {
      if (isClosed) throw perdureError('overloaded', { retryAfter: RETRY_AFTER_MS })
      const holder = tokenId === undefined ? undefined : holderOf(tokenId)
      const count = holder === undefined ? 0 : (byToken.get(holder) ?? 0)
      if (count >= maxStreamsPerToken) {
        const message = `the token has reached its limit of ${maxStreamsPerToken} SSE streams`
        throw limitReached(
          message,
          'close another stream, follow several subjects over one WebSocket, or raise realtime.maxSseStreamsPerToken',
        )
      }
      if (open.size >= maxStreams) {
        const message = `the server has reached its limit of ${maxStreams} SSE streams`
        throw limitReached(message, 'retry later, or raise realtime.maxSseStreams')
      }
      open.add(end)
      if (holder !== undefined) byToken.set(holder, count + 1)
      return () => release(end, holder)
    },
    closeAll() {
      isClosed = true
      for (const end of open) end()
    },
    size: () => open.size,
  }
  return streams
}

interface Reserved {
  end: () => void
  free: () => void
  isTaken: boolean
}

const limitReached = (message: string, hint: string) =>
  perdureError('overloaded', { message, hint, retryAfter: RETRY_AFTER_MS })
