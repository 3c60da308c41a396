import { AppError } from '@perdure/ports'
import type { Connection } from '../file/connection.ts'
import { translateError } from '../file/sqlite-error.ts'
import {
  READS,
  type ReadName,
  type ReadRequest,
  type ReadResult,
  type WriteName,
  type WriteRequest,
  type WriteResult,
} from '../operations.ts'
import type { JobResult, WriteJob } from './commit-group.ts'
import type { Host, HostState } from './host.ts'
import { mayUseReserve } from './may-use-reserve.ts'
import type { Reserve } from './reserve.ts'

export interface HostParts {
  /** Commits the jobs as one group; errors may be driver errors. Never rejects. */
  readonly commit: (jobs: readonly WriteJob[]) => readonly JobResult[] | Promise<readonly JobResult[]>
  /** Upper limit for groups in flight at once. */
  readonly maxGroupsInFlight: number
  /** The connection for reads, on the calling thread. */
  readonly readFrom: Connection
  /** Closes the connections; `isIntact` is false after a fatal error. */
  readonly close: (isIntact: boolean) => void | Promise<void>
  /**
   * Space for commits that must succeed on a full disk. Without a reserve, the first successful write ends the `full`
   * state.
   */
  readonly reserve?: Reserve | undefined
  /** Called once, when the state on disk becomes unknown. */
  readonly onFatal?: ((error: AppError) => void) | undefined
}

/**
 * Upper limit for jobs in one transaction, small enough to answer the callers of one group while the next group
 * commits.
 */
const MAX_JOBS = 32

interface QueuedJob extends WriteJob {
  readonly resolve: (result: JobResult) => void
}

/** Writes from one turn of the event loop, and writes that arrive while a group is in flight, share a transaction. */
export function createHost({ commit, maxGroupsInFlight, readFrom, close, reserve, onFatal }: HostParts): Host {
  const queue: QueuedJob[] = []
  const counters = { transactions: 0, writes: 0 }
  let state: HostState = 'open'
  let groupsInFlight = 0
  let isScheduled = false
  let onIdle = () => {}
  let closing: Promise<void> | undefined

  const translate = (error: unknown): unknown => {
    const translated = translateError(error)
    if (translated instanceof AppError && translated.id === 'storage-failed' && state !== 'failed') {
      state = 'failed'
      onFatal?.(translated)
    }
    return translated
  }

  /** After a group that did not fit on the disk, frees the reserve before the callers are answered. */
  const updateDiskState = async (isDiskFull: boolean): Promise<void> => {
    if (state === 'failed') return
    if (isDiskFull) {
      state = 'full'
      await reserve?.release()
    } else if (reserve === undefined) state = 'open'
  }

  const runGroup = async (): Promise<void> => {
    const group = queue.splice(0, MAX_JOBS)
    const hasFailed = state === 'failed'
    groupsInFlight++
    const outcomes = hasFailed ? group.map(() => ({ error: failedError() })) : await commit(group)
    groupsInFlight--
    counters.transactions += hasFailed ? 0 : 1
    counters.writes += group.length
    const results = outcomes.map((outcome) => ('error' in outcome ? { error: translate(outcome.error) } : outcome))
    await updateDiskState(results.some(isFull))
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as JobResult)
    if (queue.length > 0) runSoon()
    else if (groupsInFlight === 0) onIdle()
  }

  const runSoon = (): void => {
    if (isScheduled || groupsInFlight >= maxGroupsInFlight) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (queue.length > 0) void runGroup()
    })
  }

  const shutDown = async () => {
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve
    })
    if (queue.length > 0 || groupsInFlight > 0) await idle
    await close(state !== 'failed')
  }

  return {
    async write<Name extends WriteName>(name: Name, request: WriteRequest<Name>) {
      if (closing !== undefined) throw closedError()
      if (state === 'full' && reserve !== undefined && !mayUseReserve(request)) throw fullError()
      const outcome = await new Promise<JobResult>((resolve) => {
        queue.push({ name, request, resolve })
        runSoon()
      })
      if ('error' in outcome) throw outcome.error
      return outcome.result as WriteResult<Name>
    },
    async read(name, request) {
      if (closing !== undefined) throw closedError()
      try {
        return runRead(readFrom, name, request)
      } catch (error) {
        throw translate(error)
      }
    },
    async checkDisk() {
      const hasSpace = closing === undefined && (await reserve?.refill()) === true
      if (hasSpace && state === 'full') state = 'open'
    },
    state: () => (closing === undefined ? state : 'closed'),
    counters: () => ({ ...counters }),
    close() {
      closing ??= shutDown()
      return closing
    },
  }
}

function runRead<Name extends ReadName>(db: Connection, name: Name, request: ReadRequest<Name>): ReadResult<Name> {
  const read = READS[name] as (db: Connection, request: ReadRequest<Name>) => ReadResult<Name>
  return read(db, request)
}

const isFull = (result: JobResult): boolean =>
  'error' in result && result.error instanceof AppError && result.error.id === 'storage-full'

const failedError = (): AppError =>
  new AppError('storage-failed', { message: 'The storage failed earlier and rejects every write.' })

const fullError = (): AppError =>
  new AppError('storage-full', {
    hint: 'Free space on the disk that holds the database; the server then resumes by itself.',
  })

const closedError = (): AppError => new AppError('storage-failed', { message: 'The storage is closed.' })
