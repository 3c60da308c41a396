import { AppError } from '@perdure/ports'

/**
 * Locks on threads, held by a request from its first read to its commit: two requests cannot start runs in the same
 * thread at the same time, and no request can start a run in a thread that another request is deleting.
 */
export interface ThreadClaims {
  /** The returned function releases the thread. @throws AppError `agent-busy` when the thread is claimed */
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
  new AppError('agent-busy', { message: 'the thread is still executing', retryAfterMs: 1_000 })
