import { parentPort } from 'node:worker_threads'
import { AppError } from '@berth/ports'
import { type Connection, openConnection } from '../connection.ts'
import { endInOrder } from '../meta.ts'
import { translateError } from '../sqlite-error.ts'
import { commitGroup, type Settled } from './commit-group.ts'
import type { ErrorMessage, SettledMessage, WorkerAnswer, WorkerRequest } from './worker-message.ts'

/** The thread that writes: the flush of a commit holds this one, never the event loop of the server. */
let db: Connection | undefined

parentPort?.on('message', (request: WorkerRequest) => {
  parentPort?.postMessage(answer(request))
  if (request.type === 'close') parentPort?.close()
})

function answer(request: WorkerRequest): WorkerAnswer {
  try {
    return { type: 'done', settled: work(request) }
  } catch (error) {
    return { type: 'refused', error: toErrorMessage(error) }
  }
}

function work(request: WorkerRequest): readonly SettledMessage[] {
  if (request.type === 'open') {
    db = openConnection(request.path, { synchronous: request.synchronous })
    return []
  }
  if (db === undefined) throw new AppError('storage-failed', { message: 'The storage worker has no database.' })
  if (request.type === 'commit') return commitGroup(db, request.jobs).map(toMessage)
  if (request.isIntact) endInOrder(db)
  db.database.close()
  return []
}

function toMessage(settled: Settled): SettledMessage {
  if ('error' in settled) return { error: toErrorMessage(settled.error) }
  const { result } = settled
  if (!result.committed) return { index: result.index, conflict: result.conflict }
  return { positions: result.events.map(({ position }) => position), counts: result.counts }
}

function toErrorMessage(error: unknown): ErrorMessage {
  const translated = translateError(error)
  const { id, message, hint, cause } =
    translated instanceof AppError ? translated : new AppError('internal-error', { cause: translated })
  return { id, message, hint, cause: cause instanceof Error ? (cause.stack ?? cause.message) : undefined }
}
