import type { RunChange, RunFilter, RunRecord, RunStore } from '@berth/ports'
import { createRecordTable } from './record-table.ts'
import { type AccessFields, isVisible } from './row-visibility.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface RunTable {
  readonly store: RunStore
  readonly appliers: Pick<WriteAppliers, 'run.insert' | 'run.transition' | 'run.fence'>
}

export function createRunTable(): RunTable {
  const runs = createRecordTable<RunRecord>()
  return {
    store: {
      async find(id, visibility) {
        const run = runs.get(id)
        return run !== undefined && isVisible(accessFields(run), visibility) ? run : undefined
      },
      async list(filter, page, visibility) {
        return runs.page(page, (run) => matchesFilter(run, filter) && isVisible(accessFields(run), visibility))
      },
    },
    appliers: {
      'run.insert'({ type, run }, { undo }) {
        const current = runs.get(run.id)
        if (current !== undefined) return { type, current }
        runs.put(run, undo)
        return 1
      },
      'run.transition'({ type, runId, from, attempt, change }, { undo }) {
        const current = runs.get(runId)
        if (current === undefined || current.attempt !== attempt || !from.includes(current.status)) {
          return { type, current }
        }
        runs.put(changed(current, change), undo)
        return 1
      },
      'run.fence'({ type, runId, attempt }) {
        const current = runs.get(runId)
        return current?.status === 'running' && current.attempt === attempt ? 0 : { type, current }
      },
    },
  }
}

const accessFields = ({ id, owner, kind, targetId }: RunRecord): AccessFields =>
  kind === 'agent' ? { id, owner, agentId: targetId } : { id, owner, workflowId: targetId }

function matchesFilter(run: RunRecord, { statuses, kind, targetId, sessionId, since }: RunFilter): boolean {
  return (
    (statuses === undefined || statuses.includes(run.status)) &&
    (kind === undefined || run.kind === kind) &&
    (targetId === undefined || run.targetId === targetId) &&
    (sessionId === undefined || run.sessionId === sessionId) &&
    (since === undefined || run.createdAt >= since)
  )
}

function changed(run: RunRecord, change: RunChange): RunRecord {
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.freeze({ ...run, ...Object.fromEntries(given) })
}
