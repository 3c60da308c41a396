import { usageError } from '../cli-error.ts'
import { parseDuration, parseIsoInstant } from '../flag-time.ts'

/** The flags that decide when a new run starts. */
export interface StartFlags {
  readonly priority?: number
  readonly delay?: string
  readonly startAt?: string
}

/** The members of the request that starts a run, as far as the flags are set. */
export function startMembers({ priority, delay, startAt }: StartFlags) {
  if (delay !== undefined && startAt !== undefined) {
    throw usageError('--delay and --start-at cannot be combined', 'use one of them')
  }
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(delay === undefined ? {} : { delayMs: parseDuration('delay', delay) }),
    ...(startAt === undefined ? {} : { startAt: new Date(parseIsoInstant('start-at', startAt)).toISOString() }),
  }
}
