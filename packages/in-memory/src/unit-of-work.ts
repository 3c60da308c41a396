import type { CommitOutcome, UnitOfWork, Write, WriteType } from '@perdure/ports'
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

/**
 * Returns a deeply frozen copy of plain data, so that stored records can be returned without copying. Byte arrays are
 * copied.
 */
function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return value.slice() as T
  return Object.freeze(Array.isArray(value) ? value.map(frozenCopy) : copyMembers(value)) as T
}

const copyMembers = (source: object): object =>
  Object.fromEntries(Object.entries(source).map(([key, member]) => [key, frozenCopy(member)]))
