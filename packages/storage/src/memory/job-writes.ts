import { sql } from 'kysely'
import { compile } from '../query/compile.ts'
import { from } from '../query/from.ts'
import { deleteBy } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { jobReads } from './job-queue.ts'

export const jobWrites: WriteAppliers<WritesOf<'job'>> = {
  *'job.enqueue'({ db }, { job }) {
    const { id, key, phase, owner = null, sessionId = null, createdAt, dueAt } = job
    const marked = yield* db.run(markForRerun, { key })
    return marked + (yield* db.run(insertJob, { id, key, phase, owner, sessionId, createdAt, dueAt }))
  },
  *'job.claim'({ db }, { type, id, lease, now, until }) {
    return (yield* db.run(claimJob, { id, lease, now, until })) === 1
      ? 1
      : { type, current: yield* jobReads.find(db, id) }
  },
  *'job.complete'({ db }, { type, id, lease, now, runAgain }) {
    const ended = runAgain ? 0 : yield* db.run(deleteDone, { id, lease })
    const isEnded = ended === 1 || (yield* db.run(requeueDone, { id, lease, now })) === 1
    return isEnded ? 1 : { type, current: yield* jobReads.find(db, id) }
  },
  *'job.fail'({ db }, { type, id, lease, now, attempts, error, dueAt }) {
    const values = { id, lease, attempts, error: error === undefined ? null : JSON.stringify(error) }
    const changes =
      dueAt === undefined
        ? yield* db.run(deadLetterJob, { ...values, now })
        : yield* db.run(rescheduleJob, { ...values, dueAt })
    return changes === 1 ? 1 : { type, current: yield* jobReads.find(db, id) }
  },
  *'job.retry'({ db }, { type, id, now }) {
    const job = yield* jobReads.find(db, id)
    if (job?.failedAt === undefined) return { type, current: job }
    if ((yield* jobReads.findLive(db, job.key)) === undefined) return yield* db.run(retryDeadLetter, { id, now })
    yield* db.run(markForRerun, { key: job.key })
    return yield* db.run(deleteJob, { id })
  },
}

interface NewJobValues {
  readonly id: string
  readonly key: string
  readonly phase: string
  readonly owner: string | null
  readonly sessionId: string | null
  readonly createdAt: number
  readonly dueAt: number
}

const insertJob = compile<NewJobValues, unknown>(
  (param) => sql`insert into jobs (id, job_key, phase, owner, session_id, attempts, due_at, is_again, created_at)
    values (${param('id')}, ${param('key')}, ${param('phase')}, ${param('owner')}, ${param('sessionId')}, 0,
      ${param('dueAt')}, 0, ${param('createdAt')})
    on conflict (job_key) where failed_at is null do nothing`,
)

/** Makes a claimed job run once more after it completes. */
const markForRerun = compile<{ key: string }, unknown>((param) =>
  from
    .updateTable('jobs')
    .set({ is_again: 1 })
    .where('job_key', '=', param('key'))
    .where('failed_at', 'is', null)
    .where('lease', 'is not', null),
)

const claimJob = compile<{ id: string; lease: string; now: number; until: number }, unknown>((param) =>
  from
    .updateTable('jobs')
    .set((eb) => ({ lease: param('lease'), due_at: param('until'), attempts: eb('attempts', '+', 1) }))
    .where('id', '=', param('id'))
    .where('failed_at', 'is', null)
    .where('due_at', '<=', param('now')),
)

interface HeldJob {
  readonly id: string
  readonly lease: string
}

const deleteDone = compile<HeldJob, unknown>((param) =>
  from
    .deleteFrom('jobs')
    .where('id', '=', param('id'))
    .where('lease', '=', param('lease'))
    .where('failed_at', 'is', null)
    .where('is_again', '=', 0),
)

const requeueDone = compile<HeldJob & { now: number }, unknown>((param) =>
  from
    .updateTable('jobs')
    .set({ lease: null, is_again: 0, attempts: 0, error: null, due_at: param('now') })
    .where('id', '=', param('id'))
    .where('lease', '=', param('lease'))
    .where('failed_at', 'is', null),
)

interface Failure extends HeldJob {
  readonly attempts: number
  readonly error: string | null
}

const rescheduleJob = compile<Failure & { dueAt: number }, unknown>((param) =>
  from
    .updateTable('jobs')
    .set({ lease: null, attempts: param('attempts'), error: param('error'), due_at: param('dueAt') })
    .where('id', '=', param('id'))
    .where('lease', '=', param('lease'))
    .where('failed_at', 'is', null),
)

const deadLetterJob = compile<Failure & { now: number }, unknown>((param) =>
  from
    .updateTable('jobs')
    .set({ lease: null, is_again: 0, attempts: param('attempts'), error: param('error'), failed_at: param('now') })
    .where('id', '=', param('id'))
    .where('lease', '=', param('lease'))
    .where('failed_at', 'is', null),
)

const retryDeadLetter = compile<{ id: string; now: number }, unknown>((param) =>
  from
    .updateTable('jobs')
    .set({ failed_at: null, attempts: 0, error: null, due_at: param('now') })
    .where('id', '=', param('id')),
)

const deleteJob = deleteBy('id', 'jobs')
