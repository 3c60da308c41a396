import type { Page, PageQuery } from '@perdure/ports'
import type { RunTarget } from './run-target.ts'

/** A registered agent or workflow as the API shows it. */
export const toTargetResource = (target: RunTarget) => {
  const { id, description, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags } = target
  return { id, description, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags: [...tags] }
}

export type TargetResource = ReturnType<typeof toTargetResource>

/** A page of what is registered, by id; the cursor is the last id of the page before. */
export function pageOfTargets(byId: readonly RunTarget[], { limit, cursor, order }: PageQuery): Page<TargetResource> {
  const all = order === 'asc' ? byId : byId.toReversed()
  const start = cursor === undefined ? 0 : all.findIndex(({ id }) => (order === 'asc' ? id > cursor : id < cursor))
  const items = start === -1 ? [] : all.slice(start, start + limit)
  const last = items.at(-1)
  return {
    items: items.map(toTargetResource),
    nextCursor: last !== undefined && last !== all.at(-1) ? last.id : null,
  }
}
