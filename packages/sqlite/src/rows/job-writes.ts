import { sql } from 'kysely'
import { findAliveJob, findJob } from './job-queue.ts'
import { compile, from } from './query.ts'
import type { WriteAppliers } from './write-applier.ts'

export const jobWrites: WriteAppliers<'job.enqueue' | 'job.claim' | 'job.complete' | 'job.fail' | 'job.retry'> = {
  'job.enqueue'({ db }, { job }) {
    const { id, key, phase, owner = null, sessionId = null, createdAt, dueAt } = job
    const marked = db.run(markAgain, { key }).changes
    return marked + db.run(insertJob, { id, key, phase, owner, sessionId, createdAt, dueAt }).changes
  },
  'job.claim'({ db }, { type, id, lease, now, until }) {
    return db.run(claimJob, { id, lease, now, until }).changes === 1 ? 1 : { type, current: findJob(db, id) }
  },
  'job.complete'({ db }, { type, id, lease, now, isAgain }) {
    const ended = isAgain ? 0 : db.run(deleteDone, { id, lease }).changes
    const isEnded = ended === 1 || db.run(requeueDone, { id, lease, now }).changes === 1
    return isEnded ? 1 : { type, current: findJob(db, id) }
  },
  'job.fail'({ db }, { type, id, lease, now, attempts, error, dueAt }) {
    const values = { id, lease, attempts, error: error === undefined ? null : JSON.stringify(error) }
    const { changes } =
      dueAt === undefined ? db.run(buryJob, { ...values, now }) : db.run(postponeJob, { ...values, dueAt })
    return changes === 1 ? 1 : { type, current: findJob(db, id) }
  },
  'job.retry'({ db }, { type, id, now }) {
    const job = findJob(db, id)
    if (job?.failedAt === undefined) return { type, current: job }
    if (findAliveJob(db, job.key) === undefined) return db.run(reviveJob, { id, now }).changes
    db.run(markAgain, { key: job.key })
    return db.run(deleteJob, { id }).changes
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

const insertJob = compile<NewJobValues, unknown>((place) => ({
  compile: () =>
    sql`insert into jobs (id, job_key, phase, owner, session_id, attempts, due_at, is_again, created_at)
      select ${place('id')}, ${place('key')}, ${place('phase')}, ${place('owner')}, ${place('sessionId')}, 0,
        ${place('dueAt')}, 0, ${place('createdAt')}
      where not exists (select 1 from jobs where job_key = ${place('key')} and failed_at is null)`.compile(from),
}))

/** One that is taken is done once more. */
const markAgain = compile<{ key: string }, unknown>((place) =>
  from
    .updateTable('jobs')
    .set({ is_again: 1 })
    .where('job_key', '=', place('key'))
    .where('failed_at', 'is', null)
    .where('lease', 'is not', null),
)

const claimJob = compile<{ id: string; lease: string; now: number; until: number }, unknown>((place) =>
  from
    .updateTable('jobs')
    .set((eb) => ({ lease: place('lease'), due_at: place('until'), attempts: eb('attempts', '+', 1) }))
    .where('id', '=', place('id'))
    .where('failed_at', 'is', null)
    .where('due_at', '<=', place('now')),
)

interface Held {
  readonly id: string
  readonly lease: string
}

const deleteDone = compile<Held, unknown>((place) =>
  from
    .deleteFrom('jobs')
    .where('id', '=', place('id'))
    .where('lease', '=', place('lease'))
    .where('failed_at', 'is', null)
    .where('is_again', '=', 0),
)

const requeueDone = compile<Held & { now: number }, unknown>((place) =>
  from
    .updateTable('jobs')
    .set({ lease: null, is_again: 0, attempts: 0, error: null, due_at: place('now') })
    .where('id', '=', place('id'))
    .where('lease', '=', place('lease'))
    .where('failed_at', 'is', null),
)

interface Failure extends Held {
  readonly attempts: number
  readonly error: string | null
}

const postponeJob = compile<Failure & { dueAt: number }, unknown>((place) =>
  from
    .updateTable('jobs')
    .set({ lease: null, attempts: place('attempts'), error: place('error'), due_at: place('dueAt') })
    .where('id', '=', place('id'))
    .where('lease', '=', place('lease'))
    .where('failed_at', 'is', null),
)

const buryJob = compile<Failure & { now: number }, unknown>((place) =>
  from
    .updateTable('jobs')
    .set({ lease: null, is_again: 0, attempts: place('attempts'), error: place('error'), failed_at: place('now') })
    .where('id', '=', place('id'))
    .where('lease', '=', place('lease'))
    .where('failed_at', 'is', null),
)

const reviveJob = compile<{ id: string; now: number }, unknown>((place) =>
  from
    .updateTable('jobs')
    .set({ failed_at: null, attempts: 0, error: null, due_at: place('now') })
    .where('id', '=', place('id')),
)

const deleteJob = compile<{ id: string }, unknown>((place) => from.deleteFrom('jobs').where('id', '=', place('id')))
