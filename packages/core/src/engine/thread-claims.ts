import { perdureError } from '@perdure/ports'

/**
 * Locks on threads, held by a request of this process from its first read to its commit: a request that would start a run
 * in a thread is refused at once while another request starts a run there or deletes the thread. The storage decides
 * between processes: `run.insert` and `thread.delete` conflict while the thread has an active run.
 */
export interface ThreadClaims {
  /** The returned function releases the thread. @throws PerdureError `agent-busy` when the thread is claimed */
  claim(thread: ClaimedThread): () => void
  /** As `claim`, but waits until the thread is free. */
  claimWhenFree(thread: ClaimedThread): Promise<() => void>
}

interface ClaimedThread {
  readonly workflowId: string
  readonly threadId: string
}

export function createThreadClaims(): ThreadClaims {
  const claimed = new Map<string, Promise<void>>()
  const keyOf = ({ workflowId, threadId }: ClaimedThread) => `${workflowId} ${threadId}`

  const take = (key: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    claimed.set(key, promise)
    return () => {
      claimed.delete(key)
      resolve()
    }
  }

  return {
    claim(thread) {
      const key = keyOf(thread)
      if (claimed.has(key)) throw threadBusy()
      return take(key)
    },
    async claimWhenFree(thread) {
      const key = keyOf(thread)
      for (let other = claimed.get(key); other !== undefined; other = claimed.get(key)) await other
      return take(key)
    },
  }
}

export const threadBusy = () =>
  perdureError('agent-busy', { message: 'the thread is still executing', retryAfter: 1_000 })
