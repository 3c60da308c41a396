import type { Write, WriteType } from '@perdure/ports'
import { ENDED_RUN_STATUSES } from '@perdure/protocol'

/** Writes that a full disk must not block: they revoke a right or free space. */
const FREEING_WRITES: ReadonlySet<WriteType> = new Set<WriteType>([
  'token.revoke',
  'subject.revoke',
  'token.prune',
  'session.delete',
  'thread.delete',
  'idempotency.prune',
  'event.trim',
  'run.prune',
  'fire.prune',
  'lane.prune',
  'delivery.prune',
  'hook-delivery.prune',
  'webhook.delete',
  'file.delete',
  'file.prune',
  'audit.prune',
])

const STOPPED_STATUSES: ReadonlySet<string | undefined> = new Set([...ENDED_RUN_STATUSES, 'suspended'])

/** Whether a commit may use the reserve on a full disk: it stops a run, revokes a right or frees space. */
export const mayUseReserve = (writes: readonly Write[]): boolean =>
  writes.some((write) =>
    write.type === 'run.transition' ? STOPPED_STATUSES.has(write.change.status) : FREEING_WRITES.has(write.type),
  )
