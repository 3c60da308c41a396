import type { Page, PageQuery } from '@perdure/ports'
import { pageByName } from '../collections/page-by-name.ts'
import type { RunTarget } from './run-target.ts'

interface Targets {
  list(): readonly RunTarget[]
  versions(id: string): readonly RunTarget[]
}

/** The default version of an agent or workflow as the API shows it, with the names of all versions. */
export const toTargetResource = (targets: Targets, target: RunTarget) => {
  const { id, description, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags } = target
  const all = targets.versions(id).map(({ version = null }) => version)
  const versions = all.some((version) => version !== null) ? all : undefined
  return { id, description, versions, concurrency, onBusy, recovery, maxAttempts, timeoutMs, tags: [...tags] }
}

export type TargetResource = ReturnType<typeof toTargetResource>

/** A page of registered agents or workflows, ordered by id. */
export function pageOfTargets(targets: Targets, page: PageQuery): Page<TargetResource> {
  const { items, nextCursor } = pageByName(targets.list(), ({ id }) => id, page)
  return { items: items.map((target) => toTargetResource(targets, target)), nextCursor }
}
