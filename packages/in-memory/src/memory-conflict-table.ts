import type { MemoryConflictRecord, MemoryConflictStore } from '@perdure/ports'
import { changed } from './changed.ts'
import { createRecordTable } from './record-table.ts'
import { isVisible } from './row-visibility.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createMemoryConflictTable(): Table<MemoryConflictStore, WritesOf<'conflict'>> {
  const conflicts = createRecordTable<MemoryConflictRecord>()
  const open = (matches: (conflict: MemoryConflictRecord) => boolean) =>
    conflicts.all().filter((conflict) => conflict.status === 'open' && matches(conflict))

  return {
    store: {
      async find(id, visibility) {
        const conflict = conflicts.get(id)
        return conflict !== undefined && isVisible(conflict, visibility) ? conflict : undefined
      },
      list: async (namespace, page, visibility) =>
        conflicts.page(
          page,
          (conflict) =>
            (namespace === undefined || conflict.namespace === namespace) && isVisible(conflict, visibility),
        ),
      listOpenByFacts: async (factIds) => open((conflict) => conflict.factIds.some((id) => factIds.includes(id))),
    },
    appliers: {
      'conflict.open'({ type, conflict }, { undo }) {
        const [factId, otherId] = conflict.factIds
        const isPair = ({ factIds }: MemoryConflictRecord) => factIds[0] === factId && factIds[1] === otherId
        const current = conflicts.get(conflict.id) ?? open(isPair)[0]
        if (current !== undefined) return { type, current }
        conflicts.put(conflict, undo)
        return 1
      },
      'conflict.resolve'({ type, id, resolution }, { undo }) {
        const current = conflicts.get(id)
        if (current?.status !== 'open') return { type, current }
        conflicts.put(changed(current, { ...resolution, status: 'resolved' }), undo)
        return 1
      },
    },
  }
}
