import { AppError } from '@perdure/ports'
import type { Connection } from '../connection.ts'
import {
  READS,
  type ReadName,
  type ReadRequest,
  type ReadResult,
  type WriteName,
  type WriteRequest,
  type WriteResult,
} from '../operations.ts'
import { translateError } from '../sqlite-error.ts'
import type { Settled, WriteJob } from './commit-group.ts'
import { endsSomething } from './ends-something.ts'
import type { Host, HostState } from './host.ts'
import type { Reserve } from './reserve.ts'

export interface HostParts {
  /** Commits the jobs as one group; errors may be those of the driver. Never rejects. */
  readonly commit: (jobs: readonly WriteJob[]) => readonly Settled[] | Promise<readonly Settled[]>
  /** Groups that may be under way at once. */
  readonly maxGroups: number
  /** Where reads run, on the calling thread. */
  readonly readFrom: Connection
  /** Closes what the host works on; `isIntact` is false after a fatal error. */
  readonly close: (isIntact: boolean) => void | Promise<void>
  /** Room held back for what must be brought to its end on a full disk; without it a write that succeeds ends that state. */
  readonly reserve?: Reserve | undefined
  /** Called once, when what is on disk is no longer known. */
  readonly onFatal?: ((error: AppError) => void) | undefined
}

/** Jobs in one transaction at most: so few that the answers of one group are given while the next one is written. */
const MAX_JOBS = 32

interface Waiting extends WriteJob {
  readonly settle: (settled: Settled) => void
}

/** The writes of one turn of the event loop, and those that come while a group is under way, share a transaction. */
export function createHost({ commit, maxGroups, readFrom, close, reserve, onFatal }: HostParts): Host {
  const waiting: Waiting[] = []
  const counters = { transactions: 0, writes: 0 }
  let state: HostState = 'open'
  let underWay = 0
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

  /** A group that did not fit is answered once there is room for what it may end. */
  const noteRoom = async (isDiskFull: boolean): Promise<void> => {
    if (state === 'failed') return
    if (isDiskFull) {
      state = 'full'
      await reserve?.release()
    } else if (reserve === undefined) state = 'open'
  }

  const runGroup = async (): Promise<void> => {
    const group = waiting.splice(0, MAX_JOBS)
    const hasFailed = state === 'failed'
    underWay++
    const outcomes = hasFailed ? group.map(() => ({ error: failedError() })) : await commit(group)
    underWay--
    counters.transactions += hasFailed ? 0 : 1
    counters.writes += group.length
    const settled = outcomes.map((outcome) => ('error' in outcome ? { error: translate(outcome.error) } : outcome))
    await noteRoom(settled.some(isFull))
    for (const [index, { settle }] of group.entries()) settle(settled[index] as Settled)
    if (waiting.length > 0) runSoon()
    else if (underWay === 0) onIdle()
  }

  const runSoon = (): void => {
    if (isScheduled || underWay >= maxGroups) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (waiting.length > 0) void runGroup()
    })
  }

  const shutDown = async () => {
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve
    })
    if (waiting.length > 0 || underWay > 0) await idle
    await close(state !== 'failed')
  }

  return {
    async write<Name extends WriteName>(name: Name, request: WriteRequest<Name>) {
      if (closing !== undefined) throw closedError()
      if (state === 'full' && reserve !== undefined && !endsSomething(request)) throw fullError()
      const settled = await new Promise<Settled>((settle) => {
        waiting.push({ name, request, settle })
        runSoon()
      })
      if ('error' in settled) throw settled.error
      return settled.result as WriteResult<Name>
    },
    async read(name, request) {
      if (closing !== undefined) throw closedError()
      try {
        return runRead(readFrom, name, request)
      } catch (error) {
        throw translate(error)
      }
    },
    async tend() {
      const isFree = closing === undefined && (await reserve?.refill()) === true
      if (isFree && state === 'full') state = 'open'
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

const isFull = (settled: Settled): boolean =>
  'error' in settled && settled.error instanceof AppError && settled.error.id === 'storage-full'

const failedError = (): AppError =>
  new AppError('storage-failed', { message: 'The storage failed earlier and takes no more writes.' })

const fullError = (): AppError =>
  new AppError('storage-full', { hint: 'Free space on the disk of the database; the server goes on by itself.' })

const closedError = (): AppError => new AppError('storage-failed', { message: 'The storage is closed.' })
