import type { createInMemoryStorage } from '@perdure/in-memory'

type Storage = ReturnType<typeof createInMemoryStorage>

export interface CutStorage<Whole extends Storage> {
  readonly storage: Whole
  /** How many commits were applied. */
  readonly count: () => number
  /** Resolves at the cut. */
  readonly isCut: Promise<void>
  readonly hasEnded: () => boolean
  /** Moves the cut: it comes after so many more commits. */
  endAfter(commits: number): void
  /** Takes the cut back, or resolves after it if its commit has begun. */
  spare(): Promise<void>
}

/**
 * The storage as a process sees it that dies right after a commit: the commit is applied, but neither it nor any later one
 * is ever answered, so no code continues that waits for it.
 */
export function cutAfter<Whole extends Storage>(whole: Whole, firstLimit: number): CutStorage<Whole> {
  let commits = 0
  let lastCommit = firstLimit
  let isOver = false
  let hasEnded = false
  const { promise: isCut, resolve } = Promise.withResolvers<void>()
  const never = new Promise<never>(() => undefined)
  const unitOfWork = new Proxy(whole.unitOfWork, {
    get(target, member) {
      if (member !== 'commit') return Reflect.get(target, member, target)
      return async (...args: Parameters<typeof target.commit>) => {
        if (isOver || commits >= lastCommit) return never
        commits++
        const isLast = commits >= lastCommit
        isOver = isLast
        const outcome = await target.commit(...args)
        if (!isOver) return outcome
        if (!isLast) return never
        // Not before: a commit of the dead process must not be applied beside the next process.
        hasEnded = true
        resolve()
        return never
      }
    },
  })
  return {
    storage: { ...whole, unitOfWork },
    count: () => commits,
    isCut,
    hasEnded: () => hasEnded,
    endAfter(more) {
      if (!isOver) lastCommit = commits + more
    },
    async spare() {
      lastCommit = Number.POSITIVE_INFINITY
      if (isOver) await isCut
    },
  }
}
