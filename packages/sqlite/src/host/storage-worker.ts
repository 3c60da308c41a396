import { parentPort } from 'node:worker_threads'
import { isRefusal, perdureError, type Write } from '@perdure/ports'
import { BUSY_TIMEOUT_MS, type Connection, openConnection } from '../file/connection.ts'
import { finishCleanly, storeCount } from '../file/meta.ts'
import { databaseOpener } from '../file/open-database.ts'
import { rescue } from '../file/rescue.ts'
import { translateError } from '../file/sqlite-error.ts'
import { commitGroup, type JobResult, type WriteJob } from './commit-group.ts'
import {
  createJobUnpacker,
  type ErrorMessage,
  type JobResultMessage,
  packResults,
  type WorkerAnswer,
  type WorkerRequest,
} from './worker-message.ts'

// A diagnostic report of Node.js repeats the environment, with its secrets, for every thread that does not opt out.
process.report.excludeEnv = true

/** Connection of the thread that writes. A flush blocks this thread, never the event loop of the server. */
let db: Connection | undefined

/** Why the file could not be opened. Every later request is answered with it. */
let openError: unknown

const unpackJobs = createJobUnpacker()

let last: Promise<void> = Promise.resolve()

parentPort?.on('message', (request: WorkerRequest) => {
  last = last.then(async () => {
    parentPort?.postMessage(await answer(request))
    if (request.type === 'close') parentPort?.close()
  })
})

async function answer(request: WorkerRequest): Promise<WorkerAnswer> {
  try {
    const startedAt = performance.now()
    const results = request.type === 'open' ? await open(request) : work(request)
    return { type: 'done', results: packResults(results), ms: performance.now() - startedAt }
  } catch (error) {
    return { type: 'refused', error: toErrorMessage(error) }
  }
}

async function open({ path, synchronous, encryption }: Extract<WorkerRequest, { type: 'open' }>): Promise<[]> {
  try {
    db = openConnection(path, { synchronous, open: await databaseOpener(encryption) })
  } catch (error) {
    openError = perdureError('storage-failed', {
      message: 'The storage worker could not open the database.',
      cause: error,
    })
    throw openError
  }
  return []
}

function work(request: Exclude<WorkerRequest, { type: 'open' }>): readonly JobResultMessage[] {
  if (db === undefined) throw openError
  if (request.type === 'commit') return commit(db, unpackJobs(request.jobs))
  if (request.type === 'rescue') return [{ rescued: rescue(db.database, request.request) }]
  if (request.type === 'checkpoint') return checkpoint(db, request.truncate)
  if (request.type === 'mark') return mark(db, request.count)
  if (request.isIntact) finishCleanly(db)
  db.database.close()
  return []
}

const commit = (db: Connection, jobs: readonly WriteJob[]) =>
  commitGroup(db, jobs).map((result, index) => toMessage(result, jobs[index]))

/** Does not wait for readers: if a reader holds an old snapshot, a later checkpoint does the rest. */
function checkpoint({ database }: Connection, truncate: boolean): [] {
  database.pragma('busy_timeout = 0')
  try {
    database.pragma(`wal_checkpoint(${truncate ? 'TRUNCATE' : 'PASSIVE'})`)
  } finally {
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
  return []
}

function mark(db: Connection, count: number): [] {
  storeCount(db, count)
  return []
}

function toMessage(outcome: JobResult, job: WriteJob | undefined): JobResultMessage {
  if ('error' in outcome) return { error: toErrorMessage(outcome.error) }
  const { result } = outcome
  if (!result.committed) return { index: result.index, conflict: result.conflict }
  if (job?.request.some(publishesEvents) === true) return { events: result.events, counts: result.counts }
  return { positions: result.events.map(({ position }) => position), counts: result.counts }
}

const publishesEvents = (write: Write): boolean => write.type === 'audit.append' && write.publish === true

function toErrorMessage(error: unknown): ErrorMessage {
  const translated = translateError(error)
  const { code, message, hint, cause } = isRefusal(translated)
    ? translated
    : perdureError('internal-error', { cause: translated })
  return { code, message, hint, cause: cause instanceof Error ? (cause.stack ?? cause.message) : undefined }
}
