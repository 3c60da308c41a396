import type { RunChange, Write } from '@perdure/ports'
import { type Connection, keepOpen } from '../file/connection.ts'
import { isBusyError } from '../file/sqlite-error.ts'
import { commitGroup, type JobResult, type WriteJob } from './commit-group.ts'

export interface InlineCommitsOptions {
  /**
   * Opens another connection to the file, used only by this thread. Called at once, so that the descriptors are there
   * before they run out; if it throws, the storage thread commits until a later attempt succeeds.
   */
  readonly open: () => Connection
  /** Assumed mean duration of a commit until commits are measured, in milliseconds. */
  readonly initialMeanMs?: number | undefined
  /** The largest group that may be committed inline; 1 when missing. */
  readonly maxJobs?: number | undefined
  /** A monotonic clock, in milliseconds. */
  readonly now?: (() => number) | undefined
}

/**
 * Commits on the server's thread when the round trip to the storage thread, which wakes two threads, would take longer
 * than the commit. Only small commits qualify, and only while the disk flushes quickly, because an inline commit blocks
 * the event loop.
 */
export interface InlineCommits {
  /** Returns `undefined` and writes nothing if the storage thread has to commit the jobs. */
  commit(jobs: readonly WriteJob[]): readonly JobResult[] | undefined
  /** Records how long the storage thread took to commit a group of jobs. Milliseconds. */
  recordDuration(ms: number, jobs: number): void
  close(): void
  /** Keeps the connection open until the process ends. */
  abandon(): void
}

/**
 * The largest group to commit inline. With a single processor, the storage thread takes it away from the server's
 * thread, so whole groups are faster inline: 16 clients complete a fifth more runs. With more processors, the threads
 * work at the same time, and only a job that arrives alone is faster inline.
 */
export const maxInlineJobs = (processors: number): number => (processors === 1 ? 32 : 1)

const INITIAL_MEAN_MS = 5
/** Above this mean, the storage thread commits. About 20 fast commits bring the mean back below this value. */
const MAX_MEAN_MS = 1
const MAX_SAMPLE_MS = 50
const SAMPLE_WEIGHT = 1 / 16
/** About how long the statements of one further job in a group take. The rest of the duration is the flush. */
const JOB_MS = 0.1
/**
 * Inline commits never checkpoint, because a checkpoint takes a while. Every 64th eligible commit goes to the storage
 * thread, whose connection checkpoints the WAL.
 */
const MAX_STREAK = 64

export function createInlineCommits({
  open,
  initialMeanMs = INITIAL_MEAN_MS,
  maxJobs = 1,
  now = () => performance.now(),
}: InlineCommitsOptions): InlineCommits {
  let db = attempt(open)
  let meanMs = initialMeanMs
  let streak = 0

  const recordDuration = (ms: number, jobs: number) => {
    const flushMs = Math.max(0, ms - (jobs - 1) * JOB_MS)
    meanMs += (Math.min(flushMs, MAX_SAMPLE_MS) - meanMs) * SAMPLE_WEIGHT
  }

  return {
    recordDuration,
    commit(jobs) {
      if (jobs.length > maxJobs || meanMs >= MAX_MEAN_MS || !areSmall(jobs)) return undefined
      if (++streak % MAX_STREAK === 0) {
        db ??= attempt(open)
        return undefined
      }
      if (db === undefined) return undefined
      const startedAt = now()
      const results = commitGroup(db, jobs)
      if (results.some(isLocked)) return undefined
      recordDuration(now() - startedAt, jobs.length)
      return results
    },
    close: () => void db?.database.close(),
    abandon() {
      if (db !== undefined) keepOpen(db)
    },
  }
}

/** The process may have no descriptors left. Inline commits only save time, so this is not an error. */
function attempt(open: () => Connection): Connection | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}

const MAX_TEXT_LENGTH = 16_384
const MAX_GROUP_LENGTH = 4 * MAX_TEXT_LENGTH

const areSmall = (jobs: readonly WriteJob[]): boolean => {
  let length = 0
  for (const { request } of jobs) for (const write of request) length += textLength(write)
  return length <= (jobs.length === 1 ? MAX_TEXT_LENGTH : MAX_GROUP_LENGTH)
}

/**
 * Text length of a write. Writes that agents and workflows make while they run change only a few rows; the length of
 * any other write counts as infinite.
 */
function textLength(write: Write): number {
  switch (write.type) {
    case 'idempotency.reserve':
      return write.record.response?.body.length ?? 0
    case 'idempotency.complete':
      return write.response.body.length
    case 'run.insert':
      return textLengthOf(write.run)
    case 'run.transition':
      return textLengthOf(write.change)
    case 'event.append':
    case 'run.emit':
      return write.events.reduce((sum, { payload }) => sum + EVENT_ROW + payload.length, 0)
    case 'step.insert':
      return write.step.result?.length ?? 0
    case 'step.change':
      return write.change.result?.length ?? 0
    case 'message.append':
      return write.message.content.length
    case 'message.replace':
      return write.content.length
    case 'audit.append':
      return EVENT_ROW
    case 'audit.stage':
    case 'run.charge':
    case 'run.fence':
    case 'run.followed-up':
    case 'run.withdraw':
    case 'run.interrupt':
    case 'step.fence':
    case 'approval.fence':
    case 'lane.take':
    case 'session.touch':
    case 'token.touch':
      return 0
    default:
      return Number.POSITIVE_INFINITY
  }
}

const textLengthOf = ({ input, result, suspension, error }: RunChange) =>
  (input?.length ?? 0) + (result?.length ?? 0) + (suspension?.length ?? 0) + (error?.stack?.length ?? 0)

/** One event row counts as this many characters. */
const EVENT_ROW = 1_024

/** Whether another process holds the lock, for which the server's thread must not wait. */
const isLocked = (result: JobResult): boolean => 'error' in result && isBusyError(result.error)
