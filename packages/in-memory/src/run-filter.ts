import type { RunField, RunFilter, RunRecord } from '@perdure/ports'

const hasOrigin = (run: RunRecord, { isRoot: root, isTurn }: RunFilter): boolean =>
  (root === undefined || isRoot(run)) && (isTurn === undefined || (isRoot(run) && run.withdrawnBy === undefined))

export const isRoot = ({ parentRunId }: RunRecord): boolean => parentRunId === undefined

export const matchesFilter = (run: RunRecord, filter: RunFilter): boolean =>
  (filter.statuses === undefined || filter.statuses.includes(run.status)) &&
  (filter.kind === undefined || run.kind === filter.kind) &&
  (filter.targetId === undefined || run.targetId === filter.targetId) &&
  (filter.threadId === undefined || run.threadId === filter.threadId) &&
  (filter.sessionId === undefined || run.sessionId === filter.sessionId) &&
  (filter.parentRunId === undefined || run.parentRunId === filter.parentRunId) &&
  hasOrigin(run, filter) &&
  (filter.owner === undefined || run.owner === filter.owner) &&
  (filter.ids === undefined || filter.ids.includes(run.id)) &&
  (filter.isParked === undefined || isParked(run)) &&
  (filter.since === undefined || run.createdAt >= filter.since) &&
  (filter.until === undefined || run.createdAt < filter.until) &&
  (filter.finishReason !== 'completed' || run.finishReason === 'completed')

const isParked = ({ status, parked }: RunRecord): boolean =>
  status === 'suspended' && parked !== undefined && String(parked) !== 'null'

export const hasFields = (fields: readonly RunField[], wanted: readonly RunField[]): boolean =>
  wanted.every(([name, value]) => fields.some((field) => field[0] === name && field[1] === value))
