import { endFields, type RunField, startFields, type Write } from '@perdure/ports'
import {
  endsStep,
  FREE_HELD_SLOTS,
  NOTE_MESSAGE,
  toChangedRunColumns,
  toChangedStepColumns,
  toIdempotencyRow,
  toMessageRow,
  toNotedMessage,
  toResponseRow,
  toRunRow,
  toStepRow,
} from '@perdure/storage'
import type { Connection } from '../connection/connection.ts'
import { toColumns, toStored } from '../host/append-events.ts'
import { rollBack } from '../host/commit-alone.ts'
import { INSERT_MARKER, type Marker } from '../host/node.ts'
import { BEGIN, COMMIT, isCommitted, unansweredCommit } from '../host/transaction.ts'
import type { Turn } from '../host/turn.ts'
import { indexedValue } from '../query/indexed-words.ts'
import { LOCKS } from '../query/locks.ts'
import { AT_ONCE } from './at-once-statements.ts'
import type { GroupResult } from './commit-group.ts'
import { isSetWrite, type SetWrite } from './plan-groups.ts'
import { SET_WRITES } from './write-changes.ts'

/**
 * Writes whose statement needs no earlier result, with their rank: every transaction takes its locks in this order.
 * Writes of one rank keep their order.
 */
const RANKS = {
  'idempotency.reserve': 0,
  'idempotency.complete': 0,
  'run.insert': 1,
  'run.transition': 1,
  'run.fence': 1,
  'run.emit': 1,
  'message.append': 2,
  'step.insert': 3,
  'step.change': 3,
  'step.fence': 3,
  'event.append': 4,
} as const

type TripWrite = Extract<SetWrite, { readonly type: keyof typeof RANKS }>

const isTripWrite = (write: SetWrite): write is TripWrite => write.type in RANKS

/** Whether the commit can be sent in one round trip. */
export function fitsOneTrip(writes: readonly Write[]): boolean {
  const isSimple = (write: SetWrite): boolean => {
    if (write.type === 'run.transition') return write.from.length === 1 && write.startAt !== null
    return isTripWrite(write) && !(write.type === 'step.change' && write.change.status === 'started')
  }
  // One that is refused costs the trip, so the events of several runs are looked at first.
  if (writes.length > 1 && writes.some(({ type }) => type === 'run.emit')) return false
  const completions = writes.filter(({ type }) => type === 'idempotency.complete')
  return completions.length < 2 && writes.every((write) => isSetWrite(write) && isSimple(write))
}

/**
 * Commits one job in one round trip: all statements are sent together, and one whose condition does not hold fails the
 * transaction. Then the job needs a transaction of its own, which finds the exact conflict.
 *
 * @throws UnansweredCommit; any other error means that nothing was written.
 */
export async function commitAtOnce(turn: Turn, writes: readonly Write[]): Promise<GroupResult> {
  const { session, db, marker, knownPosition } = turn
  const tripWrites = writes.filter(isSetWrite).filter(isTripWrite)
  const events = tripWrites.flatMap((write) => ('events' in write ? write.events : []))
  const isMarked = tripWrites.some(({ type }) => type === 'idempotency.complete')
  const [begun, written, first, commit] = await session.together(() =>
    Promise.allSettled([
      Promise.all([session.execute(BEGIN), db.run(AT_ONCE.holdNode, marker)]),
      Promise.all(inLockOrder(tripWrites).flatMap((write) => send(db, write, marker))),
      sendLog(db, { events, isMarked, known: knownPosition, ...marker }),
      session.execute(COMMIT),
    ] as const),
  )
  const resultOf = (stored: { first_position: number | null; completed: number | null }): GroupResult => ({
    outcomes: [
      {
        committed: true,
        events: toStored(events, stored.first_position ?? 0),
        counts: tripWrites.map((write) => countOf(write, stored.completed ?? 0)),
      },
    ],
  })
  if (isCommitted(commit) && written.status === 'fulfilled' && first.status === 'fulfilled') {
    return resultOf({
      first_position: first.value,
      completed: written.value.find((count) => count !== undefined) ?? null,
    })
  }
  const failed = [begun, written, first].find(({ status }) => status === 'rejected') as
    | PromiseRejectedResult
    | undefined
  if (commit.status === 'rejected' || failed === undefined) throw unansweredCommit(commit, resultOf)
  await rollBack(session)
  throw failed.reason
}

const inLockOrder = (writes: readonly TripWrite[]): readonly TripWrite[] =>
  writes.toSorted((one, other) => RANKS[one.type] - RANKS[other.type])

function countOf(write: TripWrite, completed: number): number {
  if (write.type === 'idempotency.complete') return completed
  if ('events' in write) return write.events.length
  return write.type === 'run.fence' || write.type === 'step.fence' ? 0 : 1
}

interface LogEntry extends Marker {
  readonly events: Parameters<typeof toColumns>[0]
  /** Whether another statement inserts the marker. */
  readonly isMarked: boolean
  readonly known: number
}

/** Appends the events and the marker. Resolves with the position of the first event. */
async function sendLog(db: Connection, { events, isMarked, ...group }: LogEntry): Promise<number | null> {
  if (events.length === 0) {
    if (!isMarked) await db.run(INSERT_MARKER, group)
    return null
  }
  const insertion = isMarked ? AT_ONCE.appendEvents : SET_WRITES.events
  const [, row] = await Promise.all([db.run(LOCKS.log, {}), db.get(insertion, { ...group, ...toColumns(events) })])
  return (row as { first_position: number } | undefined)?.first_position ?? null
}

/** Sends the statements of a write. One of them resolves with the count of `idempotency.complete`. */
function send(db: Connection, write: TripWrite, marker: Marker): Promise<number | undefined>[] {
  const run = async <Values>(query: Parameters<typeof db.run<Values>>[0], values: Values): Promise<undefined> => {
    await db.run(query, values)
  }
  const fields = (id: string, values: readonly RunField[]) =>
    values.map(([field, value]) => run(AT_ONCE.insertField, { id, field, value: indexedValue(value) }))

  switch (write.type) {
    case 'idempotency.reserve':
      return [run(AT_ONCE.reserve, { ...toIdempotencyRow(write.record), now: write.now })]
    case 'idempotency.complete': {
      const { runId, response, unlessPatientAt: patientAt = Number.MAX_SAFE_INTEGER } = write
      const row = db.get(AT_ONCE.complete, { ...toResponseRow(response), runId, patientAt, ...marker })
      return [row.then((completed) => (completed as { completed: number }).completed)]
    }
    case 'run.insert': {
      const { run: inserted, labels } = write
      return [
        run(AT_ONCE.insertRun, toRunRow(inserted)),
        ...fields(inserted.id, [...startFields(inserted, labels), ...endFields(inserted)]),
      ]
    }
    case 'run.transition': {
      const { runId: id, from, attempt: expected, execution: expectedExecution = null, change } = write
      const { startAt: startsAt = null, needsFollowUp } = write
      const before = from[0] ?? 'queued'
      const { execution, ...columns } = toChangedRunColumns(change, { status: before, execution: 0 })
      const begun = execution === null ? 0 : 1
      const isFreed = before === 'running' && (change.status ?? 'running') !== 'running'
      return [
        run(AT_ONCE.transition, { ...columns, id, before, expected, expectedExecution, startsAt, begun }),
        ...(needsFollowUp === true ? [run(AT_ONCE.markForFollowUp, { id })] : []),
        ...(isFreed ? [run(FREE_HELD_SLOTS, { id })] : []),
        ...fields(id, endFields(change)),
      ]
    }
    case 'run.fence':
    case 'run.emit':
      return [run(AT_ONCE.fence, { id: write.runId, attempt: write.attempt, execution: write.execution ?? null })]
    case 'message.append': {
      const { seq: _, ...row } = toMessageRow(write.message, 0)
      const { message, brief } = write
      const appended = run(AT_ONCE.appendMessage, row)
      return brief === undefined ? [appended] : [appended, run(NOTE_MESSAGE, toNotedMessage(message, brief, null))]
    }
    case 'step.insert':
      return [run(AT_ONCE.insertStep, toStepRow(write.step))]
    case 'step.change': {
      const { runId, seq, from: before, change } = write
      const ends = endsStep(change) ? 1 : 0
      const row = { ...toChangedStepColumns(change), run_id: runId, seq, before, ends } as const
      return [run(AT_ONCE.lockRun, { id: runId }), run(AT_ONCE.changeStep, row)]
    }
    case 'step.fence': {
      const seqs = [...new Set(write.seqs)]
      return [run(AT_ONCE.expectWaiting, { runId: write.runId, seqs, count: seqs.length })]
    }
    default:
      return []
  }
}
