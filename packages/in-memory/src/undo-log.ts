/** Steps that undo the writes of one transaction; they run from the last entry to the first. */
export type UndoLog = (() => void)[]

export function undoAll(undo: UndoLog): void {
  for (const step of undo.reverse()) step()
}

/** Sets the entry, or deletes it when `value` is `undefined`. */
export function putEntry<K, V>(map: Map<K, V>, [key, value]: readonly [K, V | undefined], undo: UndoLog): void {
  const before = map.get(key)
  undo.push(() => replaceEntry(map, key, before))
  replaceEntry(map, key, value)
}

function replaceEntry<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}
