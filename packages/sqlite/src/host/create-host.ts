import { isRefusal, perdureError, type Refusal } from '@perdure/ports'
import { closedError, report, runNow } from '@perdure/storage'
import type { Connection } from '../file/connection.ts'
import { translateError } from '../file/sqlite-error.ts'
import type { JobResult, WriteJob } from './commit-group.ts'
import type { FileGuard } from './file-guard.ts'
import type { Host, HostState } from './host.ts'
import { mayUseReserve } from './may-use-reserve.ts'
import { createReadTurns } from './read-turns.ts'
import type { Reserve } from './reserve.ts'

export interface HostParts {
  /** Commits the jobs as one group; errors may be driver errors. If it throws, the outcome of the group is unknown. */
  readonly commit: (jobs: readonly WriteJob[]) => readonly JobResult[] | Promise<readonly JobResult[]>
  /** Upper limit for groups in flight at once. */
  readonly maxGroupsInFlight: number
  /** The connection for reads, on the calling thread. */
  readonly readFrom: Connection
  /** Closes the connections; `isIntact` is false after a fatal error. */
  readonly close: (isIntact: boolean) => void | Promise<void>
  /** Watches the files of the database. Without it, the database has no files. */
  readonly guard?: FileGuard | undefined
  /** Called instead of `close` after files were lost: closing a connection would delete files by their name. */
  readonly abandon?: (() => void | Promise<void>) | undefined
  /** Called once, at once, when files are lost. `onFatal` follows when their content is saved. */
  readonly onFilesLost?: ((error: Refusal) => void) | undefined
  /**
   * Space for commits that must succeed on a full disk. Without a reserve, the first successful write ends the `full`
   * state.
   */
  readonly reserve?: Reserve | undefined
  /** Called once, when the state on disk becomes unknown. */
  readonly onFatal?: ((error: Refusal) => void) | undefined
}

/**
 * Upper limit for changes in one transaction, small enough to answer the callers of one group while the next group
 * commits: about 32 new runs. What runs emit does not count, because the server commits it in groups of a limited size.
 */
const MAX_CHANGES = 128

interface QueuedJob extends WriteJob {
  readonly resolve: (result: JobResult) => void
}

/** Writes from one turn of the event loop, and writes that arrive while a group is in flight, share a transaction. */
export function createHost(parts: HostParts): Host {
  const { commit, maxGroupsInFlight, readFrom, close, guard, reserve, onFatal } = parts
  const queue: QueuedJob[] = []
  const turns = createReadTurns()
  const counters = { transactions: 0, writes: 0 }
  let state: HostState = 'open'
  let groupsInFlight = 0
  let isScheduled = false
  let onIdle = () => {}
  let closing: Promise<void> | undefined
  let filesLost: Refusal | undefined
  let saving: Promise<void> | undefined
  let isSaving = false
  let isClosed = false

  const checkFiles = (isDue: boolean): void => {
    if (state === 'failed' || isClosed) return
    filesLost = guard?.check(isDue)
    if (filesLost === undefined) return
    state = 'failed'
    report(parts.onFilesLost, filesLost)
    isSaving = true
    saving = guard?.save().then((error) => {
      isSaving = false
      report(onFatal, error)
    })
  }

  const translate = (error: unknown): unknown => {
    const translated = translateError(error)
    if (isRefusal(translated) && translated.code === 'storage-failed') {
      // Lost files also cause I/O errors, but their content can be saved.
      checkFiles(true)
      if (state !== 'failed') {
        state = 'failed'
        report(onFatal, translated)
      }
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

  /** Never rejects. Acknowledges nothing once files are lost. */
  const resultsOf = async (group: readonly QueuedJob[]): Promise<readonly JobResult[]> => {
    if (state === 'failed') return group.map(() => ({ error: filesLost ?? failedError() }))
    try {
      counters.transactions++
      const outcomes = await commit(group)
      checkFiles(false)
      if (filesLost !== undefined) return group.map(() => ({ error: filesLost }))
      return outcomes.map((outcome) => ('error' in outcome ? { error: translate(outcome.error) } : outcome))
    } catch (error) {
      const unknown = translate(unknownOutcome(error))
      return group.map(() => ({ error: unknown }))
    }
  }

  const runGroup = async (): Promise<void> => {
    const group = queue.splice(0, groupLength(queue))
    groupsInFlight++
    const results = await resultsOf(group)
    groupsInFlight--
    counters.writes += group.length
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
    checkFiles(true)
    await saving
    isClosed = true
    await (filesLost === undefined || parts.abandon === undefined ? close(state !== 'failed') : parts.abandon())
  }

  return {
    async commit(request) {
      if (closing !== undefined) throw closedError()
      if (state === 'full' && reserve !== undefined && !mayUseReserve(request)) throw fullError()
      const outcome = await new Promise<JobResult>((resolve) => {
        queue.push({ request, resolve })
        runSoon()
      })
      if ('error' in outcome) throw outcome.error
      return outcome.result
    },
    async read(program, ...args) {
      if (closing !== undefined) throw closedError()
      try {
        return await turns.run(() => {
          if (closing !== undefined) throw closedError()
          return runNow(program(readFrom.db, ...args))
        })
      } catch (error) {
        throw translate(error)
      }
    },
    async checkDisk() {
      const hasSpace = closing === undefined && (await reserve?.refill()) === true
      if (hasSpace && state === 'full') state = 'open'
    },
    checkFiles: () => checkFiles(true),
    state: () => (closing === undefined ? state : 'closed'),
    isSaving: () => isSaving,
    problem: () => (closing === undefined ? filesLost?.message : undefined),
    counters: () => ({ ...counters }),
    close() {
      closing ??= shutDown()
      return closing
    },
  }
}

/** How many of the oldest jobs form the next group. */
function groupLength(jobs: readonly WriteJob[]): number {
  let changes = 0
  const end = jobs.findIndex(({ request }) => {
    for (const { type } of request) if (type !== 'run.emit' && !type.endsWith('.fence')) changes++
    return changes > MAX_CHANGES
  })
  return end === -1 ? jobs.length : Math.max(1, end)
}

const isFull = (result: JobResult): boolean =>
  'error' in result && isRefusal(result.error) && result.error.code === 'storage-full'

/** A commit promises to return errors. If it throws instead, what it has written is unknown. */
const unknownOutcome = (cause: unknown): Refusal =>
  perdureError('storage-failed', { message: 'A commit failed unexpectedly; its outcome is unknown.', cause })

const failedError = (): Refusal =>
  perdureError('storage-failed', { message: 'The storage failed earlier and rejects every write.' })

const fullError = (): Refusal =>
  perdureError('storage-full', {
    hint: 'Free space on the disk that holds the database; the server then resumes by itself.',
  })
