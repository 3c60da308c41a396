import type { createInMemoryStorage } from '@perdure/in-memory'

type Storage = ReturnType<typeof createInMemoryStorage>

export interface CutStorage {
  readonly storage: Storage
  /** How many commits were applied. */
  readonly count: () => number
  /** Resolves at the cut. */
  readonly isCut: Promise<void>
}

/**
 * The storage as a process sees it that dies right after a commit: the commit is applied, but neither it nor any later one
 * is ever answered, so no code continues that waits for it.
 */
export function cutAfter(whole: Storage, lastCommit: number): CutStorage {
  let commits = 0
  const { promise: isCut, resolve } = Promise.withResolvers<void>()
  const never = new Promise<never>(() => undefined)
  const unitOfWork = new Proxy(whole.unitOfWork, {
    get(target, member) {
      if (member !== 'commit') return Reflect.get(target, member, target)
      return async (...args: Parameters<typeof target.commit>) => {
        if (commits >= lastCommit) return never
        commits++
        const outcome = await target.commit(...args)
        if (commits < lastCommit) return outcome
        resolve()
        return never
      }
    },
  })
  return { storage: { ...whole, unitOfWork }, count: () => commits, isCut }
}
