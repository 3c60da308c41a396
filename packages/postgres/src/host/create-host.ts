import { AppError, type CommitOutcome, storageBusy, type Write } from '@perdure/ports'
import type { Connection } from '../connection/connection.ts'
import { translateError } from '../connection/postgres-error.ts'
import type { ReadName, ReadRequest } from '../operations.ts'
import type { Writer } from './create-writer.ts'
import type { Host, HostState } from './host.ts'
import { runRead } from './run-read.ts'
import type { JobResult, WriteJob } from './write-job.ts'

export interface HostParts {
  readonly writer: Writer
  readonly readFrom: Connection
  /** How long a commit waits for a server that cannot be reached. */
  readonly commitWaitMs: number
  /** Called once, when the host has failed. */
  readonly onFatal?: ((error: AppError) => void) | undefined
  readonly close: () => Promise<void>
}

/** How many commits wait for a server that cannot be reached. */
const MAX_WAITING = 10_000

/** The most commits that the writer takes at once. */
const MAX_JOBS = 64

interface QueuedJob extends WriteJob {
  readonly until: number
  readonly resolve: (result: JobResult) => void
}

/** Commits of one turn of the event loop, and commits that arrive while others are under way, are written together. */
export function createHost({ writer, readFrom, commitWaitMs, onFatal, close }: HostParts): Host {
  const queue: QueuedJob[] = []
  let writes = 0
  let failure: AppError | undefined
  let isWorking = false
  let onIdle = () => {}
  let closing: Promise<void> | undefined

  const fail = (error: AppError): void => {
    if (failure !== undefined) return
    failure = error
    report(onFatal, error)
  }

  const answer = ({ resolve }: QueuedJob, result: JobResult): void => {
    writes++
    if ('error' in result && result.error instanceof AppError && result.error.id === 'storage-failed')
      fail(result.error)
    resolve(result)
  }

  const work = async (): Promise<void> => {
    while (queue.length > 0) {
      const jobs = queue.splice(0, MAX_JOBS)
      if (failure === undefined)
        await writer.commit(jobs, (index, result) => answer(jobs[index] as QueuedJob, result), jobs[0]?.until ?? 0)
      else for (const job of jobs) answer(job, { error: failure })
      if (!writer.isConnected()) refuseLate()
    }
    isWorking = false
    onIdle()
  }

  /** Answers commits that have waited long enough, without another attempt to reach the server. */
  const refuseLate = (): void => {
    while ((queue[0]?.until ?? Number.POSITIVE_INFINITY) < Date.now())
      answer(queue.shift() as QueuedJob, { error: storageBusy() })
  }

  const workSoon = (): void => {
    if (isWorking) return
    isWorking = true
    setImmediate(() => void work())
  }

  const shutDown = async (): Promise<void> => {
    if (isWorking) {
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    }
    await writer.close()
    await close()
  }

  const state = (): HostState => {
    if (closing !== undefined) return 'closed'
    return failure === undefined ? 'open' : 'failed'
  }

  return {
    async commit(writes: readonly Write[]): Promise<CommitOutcome> {
      if (closing !== undefined) throw closedError()
      if (failure !== undefined) throw failedError(failure)
      if (queue.length >= MAX_WAITING && !writer.isConnected()) throw storageBusy()
      const result = await new Promise<JobResult>((resolve) => {
        queue.push({ writes, until: Date.now() + commitWaitMs, resolve })
        workSoon()
      })
      if ('error' in result) throw result.error
      return result.outcome
    },
    read: (async <Name extends ReadName>(name: Name, request: ReadRequest<Name>) => {
      if (closing !== undefined) throw closedError()
      try {
        return await runRead(readFrom, name, request)
      } catch (error) {
        throw translateError(error)
      }
    }) as Host['read'],
    state,
    isConnected: writer.isConnected,
    counters: () => ({ ...writer.counters(), writes }),
    close() {
      closing ??= shutDown()
      return closing
    },
  }
}

/** Calls a callback of the caller, whose errors must not stop the answers to waiting commits. */
function report(callback: ((error: AppError) => void) | undefined, error: AppError): void {
  try {
    callback?.(error)
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown
    })
  }
}

const failedError = (cause: AppError): AppError =>
  new AppError('storage-failed', { message: 'The storage failed earlier and rejects every write.', cause })

const closedError = (): AppError => new AppError('storage-failed', { message: 'The storage is closed.' })
