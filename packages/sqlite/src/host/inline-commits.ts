import type { Write } from '@perdure/ports'
import type { Connection } from '../connection.ts'
import { isBusyError } from '../sqlite-error.ts'
import { commitGroup, type Settled, type WriteJob } from './commit-group.ts'

export interface InlineCommitsOptions {
  /** Another connection to the file, for this thread alone. */
  readonly open: () => Connection
  /** What a commit is taken to last before any was seen. Milliseconds. */
  readonly expectedMs?: number | undefined
  /** Milliseconds of a clock that only goes on. */
  readonly now?: (() => number) | undefined
}

/**
 * Commits on the thread of the server, where the way over the storage thread would take longer than the commit: two threads to
 * be woken. Only a brief commit that comes alone, and only while the disk flushes quickly, as nothing else happens meanwhile.
 */
export interface InlineCommits {
  /** `undefined`, and nothing done, when the storage thread is to commit the jobs. */
  commit(jobs: readonly WriteJob[]): readonly Settled[] | undefined
  /** How long the storage thread took for a group. Milliseconds. */
  note(ms: number): void
  close(): void
}

const UNKNOWN_MS = 5
/** A commit that takes longer on the average is left to the storage thread; 20 of its next ones tell whether that has passed. */
const QUICK_MS = 1
const LONGEST_MS = 50
const WEIGHT = 1 / 16
/** The storage thread moves the log into the file, which takes a while, in a commit of its own: it has one now and then. */
const IN_A_ROW = 64

export function createInlineCommits({
  open,
  expectedMs = UNKNOWN_MS,
  now = () => performance.now(),
}: InlineCommitsOptions): InlineCommits {
  let db: Connection | undefined
  let meanMs = expectedMs
  let inARow = 0

  const note = (ms: number) => {
    meanMs += (Math.min(ms, LONGEST_MS) - meanMs) * WEIGHT
  }

  return {
    note,
    commit(jobs) {
      const [job] = jobs
      if (jobs.length > 1 || job === undefined || meanMs >= QUICK_MS || !isBrief(job)) return undefined
      if (++inARow % IN_A_ROW === 0) return undefined
      db ??= open()
      const startedAt = now()
      const settled = commitGroup(db, jobs)
      if (settled.some(meetsLock)) return undefined
      note(now() - startedAt)
      return settled
    },
    close: () => void db?.database.close(),
  }
}

const MAX_TEXT = 16_384

const isBrief = ({ request }: WriteJob): boolean => {
  let text = 0
  for (const write of request) text += textOf(write)
  return text <= MAX_TEXT
}

/**
 * How much text it writes, of what agents and workflows write as they go: a few rows, wherever they stand. Infinite for all
 * else.
 */
function textOf(write: Write): number {
  switch (write.type) {
    case 'idempotency.reserve':
      return write.record.response?.body.length ?? 0
    case 'idempotency.complete':
      return write.response.body.length
    case 'run.insert':
      return write.run.input.length
    case 'run.transition':
      return (write.change.result?.length ?? 0) + (write.change.suspension?.length ?? 0)
    case 'event.append':
      return write.events.reduce((sum, { payload }) => sum + EVENT_ROW + payload.length, 0)
    case 'step.insert':
      return write.step.result?.length ?? 0
    case 'step.change':
      return write.change.result?.length ?? 0
    case 'message.append':
      return write.message.content.length
    case 'audit.append':
      return EVENT_ROW
    case 'audit.stage':
    case 'run.fence':
    case 'step.fence':
    case 'session.touch':
    case 'token.touch':
      return 0
    default:
      return Number.POSITIVE_INFINITY
  }
}

/** A row costs as much as so many letters. */
const EVENT_ROW = 1_024

/** Another process has the lock: nobody waits for it here. */
const meetsLock = (settled: Settled): boolean => 'error' in settled && isBusyError(settled.error)
