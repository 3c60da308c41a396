import { keyOf } from './content.ts'
import { allItems, findItem, type ItemList } from './item-list.ts'
import type { TranscriptItem } from './transcript.ts'

/** A difference between two versions of a transcript. Without `after`, the item was withdrawn. */
export interface ItemChange {
  readonly before?: TranscriptItem | undefined
  readonly after?: TranscriptItem | undefined
}

export const itemKey = ({ kind, id }: TranscriptItem): string => keyOf(kind, id)

/** What changed between two versions: withdrawn items first, then the others in their order. */
export function itemChanges(before: ItemList, after: ItemList): readonly ItemChange[] {
  if (before === after) return []
  const changes: ItemChange[] = []
  for (let index = 0; index < Math.max(before.chunks.length, after.chunks.length); index++) {
    const [old = [], current = []] = [before.chunks[index], after.chunks[index]]
    if (old === current) continue
    for (let at = 0; at < Math.max(old.length, current.length); at++) {
      const [was, is] = [old[at], current[at]]
      if (was === is) continue
      if (is === undefined || (was !== undefined && itemKey(was) !== itemKey(is))) return changesByKey(before, after)
      changes.push({ before: was, after: is })
    }
  }
  return changes
}

/** After a withdrawal, items have moved. */
function changesByKey(before: ItemList, after: ItemList): readonly ItemChange[] {
  const withdrawn = allItems(before).filter((item) => findItem(after, itemKey(item)) === undefined)
  const current = allItems(after).map((item) => ({ before: findItem(before, itemKey(item)), after: item }))
  return [...withdrawn.map((item) => ({ before: item })), ...current.filter((one) => one.before !== one.after)]
}
