import { createInMemoryStorage } from '@perdure/in-memory'
import { gate } from './test-engine.fixture.ts'

/** A storage that keeps one read back: its answer, or the read itself. */
export function slowStorage() {
  const storage = createInMemoryStorage()
  const { runs, approvals } = storage
  const open = gate()
  let [count, slow] = [0, 0]
  let readsLate = false
  const reading = <Args extends readonly unknown[], T>(read: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      const isSlow = ++count === slow
      if (isSlow && readsLate) await open.promise
      const found = await read(...args)
      if (isSlow) await open.promise
      return found
    }
  }
  return {
    ...storage,
    runs: { ...runs, find: reading(runs.find), list: reading(runs.list) },
    approvals: { ...approvals, list: reading(approvals.list) },
    /** The n-th read from now on is answered by `open`; with `late`, it reads only then. */
    slowDown(n: number, when: 'read' | 'late' = 'read') {
      count = 0
      slow = n
      readsLate = when === 'late'
    },
    open: open.resolve,
  }
}
