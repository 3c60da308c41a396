import { type Conflict, endFields, LANE_CLOCK_TOLERANCE_MS, type RunField, startFields } from '@perdure/ports'
import {
  endsStep,
  sessionFields,
  toChangedRunColumns,
  toChangedStepColumns,
  toMessageRow,
  toNotedMessage,
  toResponseRow,
  toRunRow,
  toSessionRow,
  toStepRow,
} from '@perdure/storage'
import { indexedValue } from '../query/indexed-words.ts'
import { type GroupChanges, noChanges } from './changes.ts'
import { type GroupState, isLive, slotKey, stepKey } from './look.ts'
import type { SetWrite } from './plan-groups.ts'

/**
 * `alone`: the commit conflicts, or may conflict, and only its own transaction finds out how. `refused`: its key is
 * taken, and it has written nothing.
 */
export type Verdict =
  | { readonly is: 'applied'; readonly counts: readonly number[]; readonly changes: GroupChanges }
  | { readonly is: 'refused'; readonly index: number; readonly conflict: Conflict }
  | { readonly is: 'alone' }

const ALONE = 'alone'

/** What the writes of one commit have changed so far. */
interface Draft {
  readonly state: GroupState
  /** Runs whose responses an earlier commit of the group completes. */
  readonly completed: ReadonlySet<string>
  readonly changes: GroupChanges
  readonly runs: Map<string, { readonly status: string; readonly attempt: number; readonly execution: number }>
  readonly sessions: Map<string, { readonly last_seq: number; readonly updated_at: number; readonly isNew: boolean }>
  readonly steps: Map<string, string>
  readonly orders: Map<string, number>
}

/** Applies the writes of each commit to what the group has locked, in order. */
export function evaluate(commits: readonly (readonly SetWrite[])[], state: GroupState): readonly Verdict[] {
  const completed = new Set<string>()
  return commits.map((writes) => {
    const verdict = evaluateCommit(writes, state, completed)
    for (const write of writes) if (write.type === 'idempotency.complete') completed.add(write.runId)
    return verdict
  })
}

function evaluateCommit(writes: readonly SetWrite[], state: GroupState, completed: ReadonlySet<string>): Verdict {
  const draft: Draft = {
    ...{ state, completed, changes: noChanges() },
    ...{ runs: new Map(), sessions: new Map(), steps: new Map(), orders: new Map() },
  }
  const counts: number[] = []
  for (const [index, write] of writes.entries()) {
    const applied = APPLY[write.type](draft, write as never)
    if (applied === ALONE) return { is: 'alone' }
    if (typeof applied !== 'number') return { is: 'refused', index, conflict: applied }
    counts.push(applied)
  }
  writeSessions(draft)
  return { is: 'applied', counts, changes: draft.changes }
}

type Appliers = {
  readonly [Type in SetWrite['type']]: (
    draft: Draft,
    write: Extract<SetWrite, { readonly type: Type }>,
  ) => number | typeof ALONE | Conflict
}

const APPLY: Appliers = {
  'idempotency.reserve'({ state, completed }, { type, record, now }) {
    if (state.reserved.has(record.id)) return 1
    const current = state.taken.get(record.id)
    if (current === undefined || !isLive(current, now)) return ALONE
    return current.runId !== undefined && completed.has(current.runId) ? ALONE : { type, current }
  },
  'idempotency.complete'({ state, changes }, { runId, response, unlessPatientAt = Number.MAX_SAFE_INTEGER }) {
    const waiting = (state.waiting.get(runId) ?? []).filter(
      ({ patient_until }) => (patient_until ?? 0) <= unlessPatientAt,
    )
    changes.responses.push(...waiting.map(({ id }) => ({ id, ...toResponseRow(response) })))
    return waiting.length
  },
  'run.insert'({ state, changes, runs }, { run, labels }) {
    if (state.runs.has(run.id)) return ALONE
    runs.set(run.id, run)
    changes.runs.push(toRunRow(run))
    changes.runFields.push(...fieldRows(run.id, run.createdAt, [...startFields(run, labels), ...endFields(run)]))
    return 1
  },
  'run.transition'({ state, changes, runs }, { runId, from, attempt, execution, startAt, change, needsFollowUp }) {
    const run = state.runs.get(runId)
    if (run?.attempt !== attempt || !from.includes(run.status)) return ALONE
    if (execution !== undefined && run.execution !== execution) return ALONE
    if (startAt !== undefined && run.start_at !== startAt) return ALONE
    const status = change.status ?? run.status
    const columns = toChangedRunColumns(change, run)
    runs.set(runId, { status, attempt: change.attempt ?? attempt, execution: columns.execution ?? run.execution })
    if (run.status === 'running' && status !== 'running') changes.freed.push(runId)
    if (needsFollowUp === true) changes.followUps.push({ run_id: runId })
    changes.runChanges.push({ id: runId, ...columns })
    changes.runFields.push(...fieldRows(runId, run.created_at, endFields(change)))
    return 1
  },
  'run.fence': (draft, write) => (isPassed(draft, write) ? 0 : ALONE),
  'run.emit'(draft, write) {
    if (!isPassed(draft, write)) return 0
    draft.changes.events.push(...write.events)
    return write.events.length
  },
  'step.insert'({ state, changes, steps }, { step }) {
    const key = stepKey(step.runId, step.seq)
    if (state.steps.has(key)) return ALONE
    steps.set(key, step.status)
    changes.steps.push(toStepRow(step))
    return 1
  },
  'step.change'({ state, changes, steps, orders }, { runId, seq, from, change }) {
    const key = stepKey(runId, seq)
    if (state.steps.get(key) !== from) return ALONE
    steps.set(key, change.status ?? from)
    if (change.status === 'started') changes.restarts.push({ run_id: runId, seq })
    const order = endsStep(change) ? (orders.get(runId) ?? state.lastOrders.get(runId) ?? 0) + 1 : null
    if (order !== null) orders.set(runId, order)
    changes.stepChanges.push({ run_id: runId, seq, order, ...toChangedStepColumns(change) })
    return 1
  },
  'step.fence'({ state, steps }, { runId, seqs }) {
    const isWaiting = (seq: number): boolean => {
      const key = stepKey(runId, seq)
      return (steps.get(key) ?? state.steps.get(key)) === 'waiting'
    }
    return seqs.every(isWaiting) ? 0 : ALONE
  },
  'event.append'({ changes }, { events }) {
    changes.events.push(...events)
    return events.length
  },
  'session.insert'({ state, changes, sessions }, { session }) {
    if (state.sessions.has(session.id)) return ALONE
    const { id, createdAt, updatedAt, metadata } = session
    sessions.set(id, { last_seq: 0, updated_at: updatedAt, isNew: true })
    changes.sessions.push(toSessionRow(session))
    for (const [field, value] of sessionFields(metadata)) {
      changes.sessionFields.push({ field, value: indexedValue(value), session_at: createdAt, session_id: id })
    }
    return 1
  },
  'session.touch'(draft, { id, at }) {
    const session = sessionOf(draft, id)
    if (session === undefined) return 0
    draft.sessions.set(id, { ...session, updated_at: at })
    return 1
  },
  'message.append'(draft, { message, brief }) {
    const session = sessionOf(draft, message.sessionId)
    if (session === undefined) return ALONE
    const seq = session.last_seq + 1
    draft.sessions.set(message.sessionId, { ...session, last_seq: seq, updated_at: message.createdAt })
    draft.changes.messages.push(toMessageRow(message, seq))
    if (brief !== undefined) draft.changes.noted.push(toNotedMessage(message, brief, seq))
    return 1
  },
  'lane.take'({ state, changes }, { runId, slots, now }) {
    for (const { lane, slot, freeAt = null } of slots) {
      const taken = state.slots.get(slotKey(lane, slot))
      const isFree =
        taken === undefined ||
        taken.run_id === runId ||
        (taken.free_at !== null &&
          (taken.free_at <= now || (freeAt !== null && taken.free_at > freeAt + LANE_CLOCK_TOLERANCE_MS)))
      if (!isFree) return ALONE
      changes.slots.push({ lane, slot, run_id: runId, free_at: freeAt, now })
    }
    return slots.length
  },
}

function isPassed(
  { state, runs }: Draft,
  { runId, attempt, execution }: Extract<SetWrite, { readonly type: 'run.fence' | 'run.emit' }>,
): boolean {
  const run = runs.get(runId) ?? state.runs.get(runId)
  const isCurrent = run?.attempt === attempt && (execution === undefined || run.execution === execution)
  return isCurrent && run.status === 'running'
}

function sessionOf({ state, sessions }: Draft, id: string) {
  const known = state.sessions.get(id)
  return sessions.get(id) ?? (known && { last_seq: known.last_seq, updated_at: 0, isNew: false })
}

/** Each session is written once per commit, with its last sequence number and its last activity. */
function writeSessions({ changes, sessions }: Draft): void {
  for (const [id, { last_seq, updated_at, isNew }] of sessions) {
    if (isNew) {
      const index = changes.sessions.findIndex((row) => row.id === id)
      const row = changes.sessions[index]
      if (row !== undefined) changes.sessions[index] = { ...row, last_seq, updated_at }
    } else changes.sessionChanges.push({ id, last_seq, updated_at })
  }
}

const fieldRows = (runId: string, runAt: number, fields: readonly RunField[]) =>
  fields.map(([field, value]) => ({ field, value: indexedValue(value), run_at: runAt, run_id: runId }))
