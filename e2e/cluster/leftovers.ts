import type { Leftover } from './history.ts'

/** What the database says at one moment. Names of processes are those of their rows. */
export interface Look {
  readonly atMs: number
  /** The processes whose lease is valid. */
  readonly living: ReadonlySet<string>
  readonly owned: readonly { readonly what: string; readonly owner: string }[]
  /** The processes that no fault holds up at this moment. Empty while the database is struck. */
  readonly unhindered: ReadonlySet<string>
  /** The process that recovers what others leave behind. */
  readonly recoverer?: string | undefined
}

export interface LeftoverWatch {
  look(seen: Look): void
  /** Called instead of `look` if the database did not answer. */
  miss(): void
  leftovers(): readonly Leftover[]
}

/** A longer pause between two looks says more about the machine than about the servers. */
const LONGEST_STEP_MS = 500

/**
 * Measures how long things belong to processes without a lease. Time counts only while somebody could recover them: a
 * process without a fault whose lease has lasted for a whole lease, and that does not wait for a recoverer with a fault.
 */
export function watchLeftovers(leaseMs: number): LeftoverWatch {
  const leasedSince = new Map<string, number>()
  const orphaned = new Map<string, number>()
  const found = new Map<string, Leftover>()
  let before: number | undefined

  const canRecover = ({ atMs, living, unhindered, recoverer }: Look): boolean => {
    if (recoverer !== undefined && living.has(recoverer) && !unhindered.has(recoverer)) return false
    return [...unhindered].some((name) => atMs - (leasedSince.get(name) ?? atMs) >= leaseMs)
  }

  return {
    look(seen) {
      const { atMs, living, owned } = seen
      for (const name of leasedSince.keys()) if (!living.has(name)) leasedSince.delete(name)
      for (const name of living) if (!leasedSince.has(name)) leasedSince.set(name, atMs)
      const stepMs = canRecover(seen) ? Math.min(LONGEST_STEP_MS, atMs - (before ?? atMs)) : 0
      before = atMs
      const orphans = new Set(
        owned.flatMap(({ what, owner }) => (living.has(owner) ? [] : [`${what} of the process ${owner}`])),
      )
      for (const what of orphaned.keys()) if (!orphans.has(what)) orphaned.delete(what)
      for (const what of orphans) {
        const passedMs = orphaned.get(what)
        const ms = passedMs === undefined ? 0 : passedMs + stepMs
        orphaned.set(what, ms)
        found.set(what, { what, ms: Math.max(ms, found.get(what)?.ms ?? 0) })
      }
    },
    miss() {
      leasedSince.clear()
      before = undefined
    },
    leftovers: () => [...found.values()],
  }
}
