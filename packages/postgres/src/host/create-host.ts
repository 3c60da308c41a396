import {
  type CommitOutcome,
  contentBytes,
  type EpochMs,
  isRefusal,
  perdureError,
  type Refusal,
  type StoredEvent,
  type Write,
} from '@perdure/ports'
import { closedError, report, runLater } from '@perdure/storage'
import type { Connection } from '../connection/connection.ts'
import { translateError, unreachable } from '../connection/postgres-error.ts'
import { withoutSignals, withSignals } from '../tail/signal-events.ts'
import type { Writer } from './create-writer.ts'
import type { Host, HostState } from './host.ts'
import type { JobResult, WriteJob } from './write-job.ts'

export interface HostParts {
  readonly writer: Writer
  readonly readFrom: Connection
  /** How long a commit waits for a server that cannot be reached. */
  readonly commitWaitMs: number
  /** Called once, when the host has failed. */
  readonly onFatal?: ((error: Refusal) => void) | undefined
  readonly close: () => Promise<void>
  /** Called with the events of each commit, before it is answered. */
  readonly onCommitted: (events: readonly StoredEvent[]) => void
  /** Clock for the timestamps of signals. */
  readonly now: () => number
}

/** How many commits wait for a server that cannot be reached, and their content in bytes. */
const MAX_WAITING = 10_000
const MAX_WAITING_BYTES = 64 * 1024 * 1024

/** How often the commits that wait behind one whose server cannot be reached are looked through. */
const REFUSE_EACH_MS = 100

/** The most commits that the writer takes at once. */
const MAX_JOBS = 64

interface QueuedJob extends WriteJob {
  readonly until: number
  /** Content of a commit that was submitted while the server could not be reached; otherwise 0. */
  readonly bytes: number
  readonly resolve: (result: JobResult) => void
}

/** Commits of one turn of the event loop, and commits that arrive while others are under way, are written together. */
export function createHost(parts: HostParts): Host {
  const { writer, readFrom, commitWaitMs, onFatal, close, onCommitted, now } = parts
  const queue: QueuedJob[] = []
  let writes = 0
  let waitingBytes = 0
  let failure: Refusal | undefined
  let isWorking = false
  let onIdle = () => {}
  let closing: Promise<void> | undefined

  const fail = (error: Refusal): void => {
    if (failure !== undefined) return
    failure = error
    report(onFatal, error)
  }

  const answer = ({ resolve, bytes }: QueuedJob, result: JobResult): void => {
    writes++
    waitingBytes -= bytes
    if ('error' in result && isRefusal(result.error) && result.error.code === 'storage-failed') fail(result.error)
    if ('outcome' in result && result.outcome.committed) onCommitted(result.outcome.events)
    resolve(result)
  }

  const work = async (): Promise<void> => {
    const refusing = setInterval(refuseLate, REFUSE_EACH_MS)
    while (queue.length > 0) {
      const jobs = queue.splice(0, MAX_JOBS)
      if (failure === undefined)
        await writer.commit(jobs, (index, result) => answer(jobs[index] as QueuedJob, result), jobs[0]?.until ?? 0)
      else for (const job of jobs) answer(job, { error: failure })
      refuseLate()
    }
    clearInterval(refusing)
    isWorking = false
    onIdle()
  }

  /** Answers commits that have waited long enough for a server that cannot be reached. */
  const refuseLate = (): void => {
    if (writer.isConnected()) return
    while ((queue[0]?.until ?? Number.POSITIVE_INFINITY) < performance.now())
      answer(queue.shift() as QueuedJob, { error: unreachable() })
  }

  const workSoon = (): void => {
    if (isWorking) return
    isWorking = true
    setImmediate(() => void work())
  }

  const shutDown = async (): Promise<void> => {
    writer.giveUp()
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
      const bytes = writer.isConnected() ? 0 : contentBytes(writes)
      const isFull = queue.length >= MAX_WAITING || waitingBytes + bytes > MAX_WAITING_BYTES
      if (isFull && !writer.isConnected()) throw unreachable()
      waitingBytes += bytes
      const result = await new Promise<JobResult>((resolve) => {
        queue.push({
          writes: withSignals(writes, now() as EpochMs),
          bytes,
          until: performance.now() + commitWaitMs,
          resolve,
        })
        workSoon()
      })
      if ('error' in result) throw result.error
      return withoutSignals(result.outcome, writes)
    },
    async read(program, ...args) {
      if (closing !== undefined) throw closedError()
      try {
        return await runLater(program(readFrom.db, ...args))
      } catch (error) {
        throw translateError(error)
      }
    },
    state,
    isConnected: writer.isConnected,
    fail,
    counters: () => ({ ...writer.counters(), writes }),
    close() {
      closing ??= shutDown()
      return closing
    },
  }
}

const failedError = (cause: Refusal): Refusal =>
  perdureError('storage-failed', { message: 'The storage failed earlier and rejects every write.', cause })
