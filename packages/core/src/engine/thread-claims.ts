import { AppError } from '@perdure/ports'

/**
 * Whose turn it is with a thread. From the look at the store to the commit, a thread belongs to one request: neither do two
 * start a run of it, nor does one start a run that another one is deleting.
 */
export interface ThreadClaims {
  /** What it gives ends the claim. @throws AppError `agent-busy` when the thread is claimed */
  claim(thread: ClaimedThread): () => void
  /** The same as soon as nobody has claimed the thread. */
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
