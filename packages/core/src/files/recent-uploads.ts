import type { Clock } from '@perdure/ports'

/** A content to which no file refers stays on the disk this long: the grace of the sweep, and the time between two sweeps. */
const KEPT_MS = 70 * 60_000
const PART_MS = 60_000

/** How much each owner has uploaded while contents stay on the disk without a file: refused, repeated or deleted ones. */
export interface RecentUploads {
  /** Adds bytes, and returns the sum of the owner. */
  add(owner: string, bytes: number): number
}

/** Counts in this process, by the minute. */
export function createRecentUploads({ monotonicMs }: Pick<Clock, 'monotonicMs'>): RecentUploads {
  const owners = new Map<string, Map<number, number>>()

  const prune = (part: number) => {
    for (const [owner, parts] of owners) {
      for (const at of parts.keys()) if (at <= part - KEPT_MS / PART_MS) parts.delete(at)
      if (parts.size === 0) owners.delete(owner)
    }
  }

  let last = 0
  return {
    add(owner, bytes) {
      const part = Math.floor(monotonicMs() / PART_MS)
      if (part !== last) prune(part)
      last = part
      const parts = owners.get(owner) ?? new Map<number, number>()
      if (bytes > 0) {
        parts.set(part, (parts.get(part) ?? 0) + bytes)
        owners.set(owner, parts)
      }
      return [...parts.values()].reduce((sum, one) => sum + one, 0)
    },
  }
}
