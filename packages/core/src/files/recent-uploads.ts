import type { Clock } from '@perdure/ports'

/** A content to which no file refers stays on the disk this long: the grace of the sweep, and the time between two sweeps. */
const KEPT_MS = 70 * 60_000
const PART_MS = 60_000

/** One upload that is being received. */
export interface RecentUpload {
  /** Adds received bytes, and returns the sum of the owner. */
  add(bytes: number): number
  /** Subtracts the bytes again, because none of them stays on the disk. */
  cancel(): void
}

/** How much each owner has uploaded while contents stay on the disk without a file: refused, repeated or deleted ones. */
export interface RecentUploads {
  begin(owner: string): RecentUpload
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

  const change = (owner: string, part: number, bytes: number) => {
    const parts = owners.get(owner) ?? new Map<number, number>()
    parts.set(part, (parts.get(part) ?? 0) + bytes)
    owners.set(owner, parts)
  }

  const sumOf = (owner: string) => [...(owners.get(owner)?.values() ?? [])].reduce((sum, one) => sum + one, 0)

  let last = 0
  return {
    begin(owner) {
      const added = new Map<number, number>()
      return {
        add(bytes) {
          const part = Math.floor(monotonicMs() / PART_MS)
          if (part !== last) prune(part)
          last = part
          if (bytes > 0) {
            added.set(part, (added.get(part) ?? 0) + bytes)
            change(owner, part, bytes)
          }
          return sumOf(owner)
        },
        cancel() {
          for (const [part, bytes] of added) if (owners.get(owner)?.has(part) === true) change(owner, part, -bytes)
          added.clear()
        },
      }
    },
  }
}
