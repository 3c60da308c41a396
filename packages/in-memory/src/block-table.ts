import type { BlockRecord, BlockRef, BlockStore } from '@perdure/ports'
import { createRecordTable } from './record-table.ts'
import { isVisible } from './row-visibility.ts'
import { putEntry } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createBlockTable(): Table<BlockStore, WritesOf<'block'>> {
  const blocks = createRecordTable<BlockRecord>()
  const ids = new Map<string, string>()
  const find = (ref: BlockRef) => blocks.get(ids.get(addressOf(ref)) ?? '')

  return {
    store: {
      find: async (ref) => find(ref),
      list: async (namespace, page, visibility) =>
        blocks.page(
          page,
          (block) => (namespace === undefined || block.namespace === namespace) && isVisible(block, visibility),
        ),
    },
    appliers: {
      'block.put'({ type, block, from }, { undo }) {
        const known = find(block)
        if (from !== undefined && (known?.updatedAt ?? null) !== from) return { type }
        const { value, limit, updatedAt } = block
        blocks.put(known === undefined ? block : Object.freeze({ ...known, value, limit, updatedAt }), undo)
        if (known === undefined) putEntry(ids, [addressOf(block), block.id], undo)
        return 1
      },
      'block.delete'({ type, ref, from }, { undo }) {
        const known = find(ref)
        if (known === undefined || (from ?? known.updatedAt) !== known.updatedAt) return { type }
        blocks.delete(known.id, undo)
        putEntry(ids, [addressOf(ref), undefined], undo)
        return 1
      },
    },
  }
}

const addressOf = ({ owner, namespace, label }: BlockRef): string => JSON.stringify([owner, namespace, label])
