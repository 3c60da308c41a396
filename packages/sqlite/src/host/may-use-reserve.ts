import type { Write, WriteType } from '@perdure/ports'

/** What a full disk must not keep from happening: it ends something, takes a right away, or gives room back. */
const ENDING: ReadonlySet<WriteType> = new Set<WriteType>([
  'token.revoke',
  'session.delete',
  'thread.delete',
  'idempotency.prune',
  'event.trim',
  'run.prune',
  'fire.prune',
  'audit.prune',
])

const ENDED: ReadonlySet<string | undefined> = new Set(['completed', 'failed', 'aborted', 'suspended'])

/** Whether the commit may use the room that is held back for it. */
export const endsSomething = (writes: readonly Write[]): boolean =>
  writes.some((write) => (write.type === 'run.transition' ? ENDED.has(write.change.status) : ENDING.has(write.type)))
