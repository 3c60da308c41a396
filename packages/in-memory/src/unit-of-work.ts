import type { CommitOutcome, UnitOfWork, Write, WriteType } from '@perdure/ports'
import { frozenCopy } from './frozen-copy.ts'
import { undoAll } from './undo-log.ts'
import type { Transaction, WriteAppliers, WriteOf } from './write-applier.ts'

/** Applies commits one at a time in call order, each within a single microtask. */
export function createUnitOfWork(appliers: WriteAppliers): UnitOfWork {
  return {
    async commit(writes) {
      const copies = frozenCopy(writes)
      await Promise.resolve()
      return applyAll(appliers, copies)
    },
  }
}

function applyAll(appliers: WriteAppliers, writes: readonly Write[]): CommitOutcome {
  const transaction: Transaction = { undo: [], events: [] }
  const counts: number[] = []
  const applyOne = <T extends WriteType>(type: T, write: WriteOf<T>) => appliers[type](write, transaction)
  try {
    for (const [index, write] of writes.entries()) {
      const applied = applyOne(write.type, write)
      if (typeof applied !== 'number') {
        undoAll(transaction.undo)
        return { committed: false, index, conflict: applied }
      }
      counts.push(applied)
    }
  } catch (error) {
    undoAll(transaction.undo)
    throw error
  }
  return { committed: true, events: transaction.events, counts }
}
