import type { Page, PageQuery } from '@perdure/ports'
import { pageByName } from '../collections/page-by-name.ts'
import type { RunTarget } from './run-target.ts'

/** A registered agent or workflow as the API shows it. */
export const toTargetResource = (target: RunTarget) => {
  const { id, description, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags } = target
  return { id, description, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags: [...tags] }
}

export type TargetResource = ReturnType<typeof toTargetResource>

/** A page of registered agents or workflows, ordered by id. */
export function pageOfTargets(byId: readonly RunTarget[], page: PageQuery): Page<TargetResource> {
  const { items, nextCursor } = pageByName(byId, ({ id }) => id, page)
  return { items: items.map(toTargetResource), nextCursor }
}
