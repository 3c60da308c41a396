import { type Clock, type IdempotencyRecord, isRefusal, plusMs } from '@perdure/ports'
import { storedFingerprint } from './first-use.ts'
import type { KeyedRequest } from './keyed-request.ts'
import { type Recall, replayAnswer } from './recall.ts'
import type { Reply } from './reply.ts'

export interface RunKeyedDeps {
  readonly clock: Clock
  readonly recall: Recall
}

/**
 * Runs the work of a keyed request, and gives a repeated request the stored answer.
 *
 * @throws PerdureError what `work` throws; `idempotency-conflict`; `idempotency-in-flight` while a request with this key
 *   claims something
 */
export type RunKeyed = <Result>(request: Keyed, work: () => Promise<Result>) => Promise<Result | Replayed>

export interface Keyed {
  readonly key: KeyedRequest
  /**
   * Whether the work claims something before it commits, as a lane or a thread. A repeated request would find it claimed, by
   * itself; without a claim, its commit finds the repeated key.
   */
  readonly isExclusive: boolean
}

export interface Replayed {
  readonly kind: 'replayed'
  readonly reply: Reply
}

export function createRunKeyed({ clock, recall }: RunKeyedDeps): RunKeyed {
  const underWay = new Map<string, IdempotencyRecord>()

  const enter = (request: KeyedRequest): (() => void) => {
    const { id } = request
    const first = underWay.get(id)
    // Without a response, this throws.
    if (first !== undefined) replayAnswer(first, request, { clock })
    const now = clock.now()
    underWay.set(id, { id, fingerprint: storedFingerprint(request), createdAt: now, expiresAt: plusMs(now, 1) })
    return () => void underWay.delete(id)
  }

  return async ({ key, isExclusive }, work) => {
    let leave: (() => void) | undefined
    try {
      if (isExclusive) leave = enter(key)
      // Read while the key is claimed: a read that began before the claim could miss the record of the last request.
      const earlier = isExclusive ? await recall(key) : undefined
      return earlier === undefined ? await work() : { kind: 'replayed', reply: earlier }
    } catch (error) {
      if (!mayBeOwn(error)) throw error
      return { kind: 'replayed', reply: await recall.afterRefusal(key, error) }
    } finally {
      leave?.()
    }
  }
}

/** Whether a request can be refused so because of what the first request with its key has claimed. */
const mayBeOwn = (error: unknown): boolean =>
  isRefusal(error) && (error.code === 'agent-busy' || error.code === 'idempotency-in-flight')
