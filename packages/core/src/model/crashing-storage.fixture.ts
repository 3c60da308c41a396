import type { Storage } from '@perdure/ports'

export interface Mortal {
  readonly storage: Storage
  /** Dies after the nth commit from now was written, before anybody hears of it. */
  dieAfter(commits: number): void
  isDead(): boolean
}

/** The storage of a process that can die: a dead one writes nothing and hears nothing. */
export function mortal(storage: Storage): Mortal {
  let left = Number.POSITIVE_INFINITY
  const never = new Promise<never>(() => undefined)
  return {
    dieAfter(commits) {
      left = commits
    },
    isDead: () => left <= 0,
    storage: {
      ...storage,
      unitOfWork: {
        async commit(writes) {
          if (left <= 0) return never
          left--
          const outcome = await storage.unitOfWork.commit(writes)
          return left <= 0 ? never : outcome
        },
      },
    },
  }
}
