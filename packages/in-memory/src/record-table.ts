import type { EpochMs, Page, PageQuery } from '@perdure/ports'
import { countBefore, type Selection, type SortKey, takePage } from './ordered-page.ts'
import type { UndoLog } from './undo-log.ts'

/** Records by id, listed in creation order. */
export interface RecordTable<T> {
  get(id: string): T | undefined
  /** All records in creation order. */
  all(): readonly T[]
  /** Inserts the record, or replaces the one with the same id and `createdAt`. */
  put(record: T, undo: UndoLog): void
  /** Removes the record; a no-op for an unknown id. */
  delete(id: string, undo: UndoLog): void
  page(query: PageQuery, matches: (record: T) => boolean): Page<T>
  pageOf<Shown>(query: PageQuery, selection: Selection<T, Shown>): Page<Shown>
}

export function createRecordTable<T extends { readonly id: string; readonly createdAt: EpochMs }>(): RecordTable<T> {
  const byId = new Map<string, T>()
  const records: T[] = []
  const sortKeyOf = ({ createdAt, id }: T): SortKey => [createdAt, id]
  const ordered = { records, sortKeyOf }

  const set = (record: T): void => {
    const replaced = byId.has(record.id) ? 1 : 0
    byId.set(record.id, record)
    records.splice(countBefore(ordered, sortKeyOf(record)), replaced, record)
  }

  const remove = (record: T): void => {
    byId.delete(record.id)
    records.splice(countBefore(ordered, sortKeyOf(record)), 1)
  }

  return {
    get: (id) => byId.get(id),
    all: () => records,
    put(record, undo) {
      const before = byId.get(record.id)
      undo.push(before === undefined ? () => remove(record) : () => set(before))
      set(record)
    },
    delete(id, undo) {
      const record = byId.get(id)
      if (record === undefined) return
      undo.push(() => set(record))
      remove(record)
    },
    page: (query, matches) => takePage(ordered, query, { matches, show: (record) => record }),
    pageOf: (query, selection) => takePage(ordered, query, selection),
  }
}
