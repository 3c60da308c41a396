/** A value that took some time to make, and what it needs in memory. */
interface Kept {
  readonly value: unknown
  readonly bytes: number
}

/**
 * Keeps what was folded from the logs of runs, so that a client that polls a run makes the server fold only the events
 * since its last poll. Evicts the values that were used least recently.
 */
export interface FoldCache {
  /** Removes the value: whoever takes it may change it. @param kind names the type of the value */
  take(kind: string, id: string): unknown
  keep(kind: string, id: string, value: unknown, bytes: number): void
  bytes(): number
}

/** What a value costs besides the events that it was folded from. */
const OVERHEAD_BYTES = 4_096

export function createFoldCache(maxBytes: number): FoldCache {
  const all = new Map<string, Kept>()
  let total = 0

  const remove = (key: string): Kept | undefined => {
    const kept = all.get(key)
    all.delete(key)
    total -= kept?.bytes ?? 0
    return kept
  }

  return {
    take: (kind, id) => remove(`${kind} ${id}`)?.value,
    keep(kind, id, value, folded) {
      const key = `${kind} ${id}`
      remove(key)
      // Text that was appended piece by piece needs about twice its length.
      const bytes = 2 * folded + OVERHEAD_BYTES
      if (bytes > maxBytes) return
      all.set(key, { value, bytes })
      total += bytes
      for (const oldest of all.keys()) {
        if (total <= maxBytes) return
        remove(oldest)
      }
    },
    bytes: () => total,
  }
}
