import { type EmissionPart, type EmissionStore, takeWithinPage } from '@perdure/ports'
import { putEntry } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createEmissionTable(): Table<EmissionStore, WritesOf<'emission'>> {
  const parts = new Map<string, EmissionPart>()

  return {
    store: { list: async (limit) => takeWithinPage(parts.values(), limit).items },
    appliers: {
      'emission.insert'({ type, part }, { undo }) {
        if (parts.has(part.id)) return { type }
        putEntry(parts, [part.id, part], undo)
        return 1
      },
      'emission.finish'({ type, id }, { undo }) {
        if (!parts.has(id)) return { type }
        // A rollback restores the whole map: inserting only the part again would move it behind later parts.
        const before = [...parts]
        undo.push(() => {
          parts.clear()
          for (const [key, part] of before) parts.set(key, part)
        })
        parts.delete(id)
        return 1
      },
    },
  }
}
