import type { Write, WriteType } from '@perdure/ports'
import type { WriteJob } from '../host/write-job.ts'

/** The most commits in one group. */
const MAX_JOBS = 64

/** Writes that a group applies to all of its commits at once. */
const SET_WRITES = [
  'idempotency.reserve',
  'idempotency.complete',
  'run.insert',
  'run.transition',
  'run.fence',
  'run.emit',
  'step.insert',
  'step.change',
  'step.fence',
  'event.append',
  'session.insert',
  'session.touch',
  'message.append',
  'lane.take',
] as const satisfies readonly WriteType[]

export type SetWrite = Extract<Write, { readonly type: (typeof SET_WRITES)[number] }>

const SET_TYPES: ReadonlySet<WriteType> = new Set(SET_WRITES)

/** Consecutive jobs: a group of jobs that touch different rows, or one job that is committed alone. */
export interface JobPart {
  readonly from: number
  readonly to: number
  readonly isGroup: boolean
}

export function planGroups(jobs: readonly WriteJob[]): readonly JobPart[] {
  const parts: JobPart[] = []
  let from = 0
  let touched = new Set<string>()
  const endGroup = (to: number): void => {
    if (to > from) parts.push({ from, to, isGroup: true })
    from = to
    touched = new Set()
  }
  for (const [index, { writes }] of jobs.entries()) {
    const rows = touchedRows(writes)
    const isDisjoint = rows !== undefined && !rows.some((row) => touched.has(row))
    if (!isDisjoint || index - from === MAX_JOBS) endGroup(index)
    if (rows === undefined) {
      parts.push({ from: index, to: index + 1, isGroup: false })
      from = index + 1
    } else for (const row of rows) touched.add(row)
  }
  endGroup(jobs.length)
  return parts
}

/**
 * The rows by which commits of one group must differ. Undefined for a commit that has another write, or that writes one
 * row twice.
 */
function touchedRows(writes: readonly Write[]): readonly string[] | undefined {
  if (!writes.every(isSetWrite)) return undefined
  const written = writes.flatMap(writtenRows)
  if (new Set(written).size < written.length) return undefined
  return [...new Set(writes.flatMap((write) => rowsOf(write)))]
}

export const isSetWrite = (write: Write): write is SetWrite => SET_TYPES.has(write.type)

/** The rows that a set-wise statement could write only once. A commit reserves at most one key. */
function writtenRows(write: SetWrite): readonly string[] {
  switch (write.type) {
    case 'idempotency.reserve':
      return ['key', ...(write.record.runId === undefined ? [] : [`response ${write.record.runId}`])]
    case 'idempotency.complete':
      return [`response ${write.runId}`]
    case 'run.insert':
      return [`run ${write.run.id}`]
    case 'run.transition':
      return [`run ${write.runId}`]
    case 'step.insert':
      return [`step ${write.step.runId} ${write.step.seq}`]
    case 'step.change':
      return [`step ${write.runId} ${write.seq}`]
    case 'session.insert':
      return [`session ${write.session.id}`]
    case 'lane.take':
      return write.slots.map(({ lane, slot }) => `slot ${slot} ${lane}`)
    default:
      return []
  }
}

function rowsOf(write: SetWrite): readonly string[] {
  switch (write.type) {
    case 'idempotency.reserve':
      return [`key ${write.record.id}`, ...(write.record.runId === undefined ? [] : [`run ${write.record.runId}`])]
    case 'run.insert':
      return [`run ${write.run.id}`]
    case 'step.insert':
      return [`run ${write.step.runId}`]
    case 'session.insert':
      return [`session ${write.session.id}`]
    case 'session.touch':
      return [`session ${write.id}`]
    case 'message.append':
      return [`session ${write.message.sessionId}`]
    case 'lane.take':
      return [`run ${write.runId}`, ...writtenRows(write)]
    case 'event.append':
      return []
    default:
      return [`run ${write.runId}`]
  }
}
