import type { createInMemoryStorage } from '@perdure/in-memory'

type Storage = ReturnType<typeof createInMemoryStorage>

/** So long without any change, a conversation is stuck. */
const PATIENCE_MS = 60_000
/** A check that has failed for so long fails, even while changes continue. */
const LIMIT_MS = 240_000

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Counts what has changed, so that a check is repeated when it may have another result, and not all the time. */
export function createChanges() {
  let count = 0
  let next = Promise.withResolvers<void>()
  const note = () => {
    count++
    next.resolve()
    next = Promise.withResolvers()
  }

  const later = async (seen: number) => {
    if (count === seen) {
      const { promise } = next
      const stuck = Promise.withResolvers<never>()
      const timer = setTimeout(() => stuck.reject(new Error(`nothing changes for ${PATIENCE_MS} ms`)), PATIENCE_MS)
      await Promise.race([promise, stuck.promise]).finally(() => clearTimeout(timer))
    }
    // Most changes are followed by others at once.
    for (let last = -1; last !== count; ) {
      last = count
      for (let turn = 0; turn < 3; turn++) await nextTurn()
    }
  }

  return {
    note,
    /** The storage, whose commits are changes. */
    noteCommits<Whole extends Storage>(whole: Whole): Whole {
      const unitOfWork = new Proxy(whole.unitOfWork, {
        get(target, member) {
          if (member !== 'commit') return Reflect.get(target, member, target)
          return (...args: Parameters<typeof target.commit>) => target.commit(...args).finally(note)
        },
      })
      return { ...whole, unitOfWork }
    },
    async until(check: () => Promise<boolean>): Promise<void> {
      const end = performance.now() + LIMIT_MS
      for (let seen = count; !(await check()); seen = count) {
        if (performance.now() > end) throw new Error(`the conversation does not come to rest in ${LIMIT_MS} ms`)
        await later(seen)
      }
    },
  }
}
