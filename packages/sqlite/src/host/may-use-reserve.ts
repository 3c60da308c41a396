import type { Write } from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'

/** Writes that a full disk must not block: their names say that they revoke a right or free space. */
const FREEING = /\.(?:delete|prune|trim|revoke)$/

const STOPPED_STATUSES: ReadonlySet<string | undefined> = new Set([...ENDED_RUN_STATUSES, 'suspended'])

/** Whether a commit may use the reserve on a full disk: it stops a run, revokes a right or frees space. */
export const mayUseReserve = (writes: readonly Write[]): boolean =>
  writes.some((write) =>
    write.type === 'run.transition' ? STOPPED_STATUSES.has(write.change.status) : FREEING.test(write.type),
  )
