import type { Storage } from '@perdure/ports'

export interface CrashingStorage {
  readonly storage: Storage
  /** Crashes after the nth commit from now is stored, before its caller gets the answer. */
  crashAfter(commits: number): void
  hasCrashed(): boolean
}

/** The storage of a process that can crash. After the crash it commits nothing, and callers get no answer. */
export function createCrashingStorage(storage: Storage): CrashingStorage {
  let left = Number.POSITIVE_INFINITY
  const never = new Promise<never>(() => undefined)
  return {
    crashAfter(commits) {
      left = commits
    },
    hasCrashed: () => left <= 0,
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
