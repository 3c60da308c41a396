import type { RunSummary } from '../client/resources.ts'

export interface RunPage {
  readonly items: RunSummary[]
  readonly nextCursor: string | null
}

/** The first page as it is now, and the rows after it that are on the page already. */
export function withOlder(fresh: RunPage, before: RunPage): RunPage {
  const last = fresh.items.at(-1)
  if (last === undefined || fresh.nextCursor === null) return fresh
  const shown = new Set(fresh.items.map(({ id }) => id))
  const older = before.items.filter(({ id, createdAt }) => createdAt <= last.createdAt && !shown.has(id))
  return { items: [...fresh.items, ...older], nextCursor: before.nextCursor }
}
