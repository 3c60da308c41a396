import { type Clock, type IdempotencyRecord, plusMs } from '@perdure/ports'
import { storedFingerprint } from './first-use.ts'
import type { KeyedRequest } from './keyed-request.ts'
import { replayAnswer } from './recall.ts'

/**
 * The keys whose first request has claimed something in this process and has not committed yet. A repeated request would find what it
 * needs claimed, by itself.
 */
export interface KeysUnderWay {
  /**
   * The returned function removes the key again.
   *
   * @throws PerdureError `idempotency-in-flight`, `idempotency-conflict` if a request with this key is under way
   */
  enter(request: KeyedRequest): () => void
}

export function createKeysUnderWay(deps: { readonly clock: Clock }): KeysUnderWay {
  const records = new Map<string, IdempotencyRecord>()

  return {
    enter(request) {
      const { id } = request
      const first = records.get(id)
      // Without a response, this throws.
      if (first !== undefined) replayAnswer(first, request, deps)
      const now = deps.clock.now()
      records.set(id, { id, fingerprint: storedFingerprint(request), createdAt: now, expiresAt: plusMs(now, 1) })
      return () => void records.delete(id)
    },
  }
}
