import { parentPort } from 'node:worker_threads'
import { AppError, type Write } from '@perdure/ports'
import { BUSY_TIMEOUT_MS, type Connection, openConnection } from '../connection.ts'
import { endInOrder } from '../meta.ts'
import { databaseOpener } from '../open-database.ts'
import { translateError } from '../sqlite-error.ts'
import { commitGroup, type Settled, type WriteJob } from './commit-group.ts'
import {
  type ErrorMessage,
  packSettled,
  type SettledMessage,
  unpackJobs,
  type WorkerAnswer,
  type WorkerRequest,
} from './worker-message.ts'

/** The thread that writes: the flush of a commit holds this one, never the event loop of the server. */
let db: Connection | undefined

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
    const settled = request.type === 'open' ? await open(request) : work(request)
    return { type: 'done', settled: packSettled(settled), ms: performance.now() - startedAt }
  } catch (error) {
    return { type: 'refused', error: toErrorMessage(error) }
  }
}

async function open({ path, synchronous, encryption }: Extract<WorkerRequest, { type: 'open' }>): Promise<[]> {
  db = openConnection(path, { synchronous, open: await databaseOpener(encryption) })
  return []
}

function work(request: Exclude<WorkerRequest, { type: 'open' }>): readonly SettledMessage[] {
  if (db === undefined) throw new AppError('storage-failed', { message: 'The storage worker has no database.' })
  if (request.type === 'commit') return commit(db, unpackJobs(request.jobs))
  if (request.type === 'checkpoint') return checkpoint(db, request.truncate)
  if (request.isIntact) endInOrder(db)
  db.database.close()
  return []
}

const commit = (db: Connection, jobs: readonly WriteJob[]) =>
  commitGroup(db, jobs).map((settled, index) => toMessage(settled, jobs[index]))

/** Waits for nobody: a reader of an old snapshot only postpones it. */
function checkpoint({ database }: Connection, truncate: boolean): [] {
  database.pragma('busy_timeout = 0')
  try {
    database.pragma(`wal_checkpoint(${truncate ? 'TRUNCATE' : 'PASSIVE'})`)
  } finally {
    database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
  return []
}

function toMessage(settled: Settled, job: WriteJob | undefined): SettledMessage {
  if ('error' in settled) return { error: toErrorMessage(settled.error) }
  const { result } = settled
  if (!result.committed) return { index: result.index, conflict: result.conflict }
  if (job?.request.some(makesEvents) === true) return { events: result.events, counts: result.counts }
  return { positions: result.events.map(({ position }) => position), counts: result.counts }
}

const makesEvents = (write: Write): boolean => write.type === 'audit.append' && write.publish === true

function toErrorMessage(error: unknown): ErrorMessage {
  const translated = translateError(error)
  const { id, message, hint, cause } =
    translated instanceof AppError ? translated : new AppError('internal-error', { cause: translated })
  return { id, message, hint, cause: cause instanceof Error ? (cause.stack ?? cause.message) : undefined }
}
