import { type EpochMs, endOfDay, type Storage, type Write } from '@perdure/ports'
import { aRun, aSession } from '../builders.ts'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

type RetentionType = 'event.trim' | 'event.delete' | 'run.prune' | 'usage.prune'

const OVER = endOfDay(endOfDay(at(0))) as EpochMs
const DELETED = aRun({ id: 'run-deleted', owner: 'deleter', sessionId: 'ses-deleted', status: 'completed' })

/** The usage of a deleted run. */
export async function seedUsage(storage: Storage): Promise<void> {
  const id = 'ses-deleted'
  await commit(storage, { type: 'session.insert', session: aSession({ id }) }, { type: 'run.insert', run: DELETED })
  await commit(storage, { type: 'session.delete', id, answer: { status: 404, body: '' } })
}

/** One write of every type that deletes by age. Each succeeds after the seed and has a visible effect. */
export const RETENTION_CHANGES: { readonly [T in RetentionType]: Extract<Write, { readonly type: T }> } = {
  'event.trim': { type: 'event.trim', before: at(1), limit: 1 },
  'event.delete': { type: 'event.delete', positions: [] },
  'run.prune': { type: 'run.prune', before: at(1), limit: 1 },
  'usage.prune': { type: 'usage.prune', now: OVER, limit: 1 },
}

export const usageSnapshot = async ({ runs }: Storage) => ({ deleted: await runs.usage(DELETED.owner, at(0)) })
