import type { EpochMs } from './clock.ts'
import type { Write } from './unit-of-work.ts'

/** A change that other processes need to know and that is not an event. */
export type CommitSignal =
  /** Tokens were revoked or replaced. */
  | { readonly type: 'tokens' }
  /** Events and stored responses were deleted, other than by age. */
  | { readonly type: 'deleted' }
  /** Triggers or fires were added, changed or deleted. */
  | { readonly type: 'triggers' }
  /** A wait, an approval or a deadline ends at this time. */
  | { readonly type: 'due'; readonly at: EpochMs }
  /** A queued run starts at this time. */
  | { readonly type: 'start'; readonly at: EpochMs }

/** The signals of a commit: each type at most once, with the earliest time. */
export function signalsOf(writes: readonly Write[]): readonly CommitSignal[] {
  let signals: CommitSignal[] | undefined
  for (const write of writes) {
    const signal = signalOf(write)
    if (signal === undefined) continue
    signals ??= []
    add(signals, signal)
  }
  return signals ?? NONE
}

const NONE: readonly CommitSignal[] = []

function add(signals: CommitSignal[], signal: CommitSignal): void {
  const index = signals.findIndex(({ type }) => type === signal.type)
  const known = signals[index]
  if (known === undefined) signals.push(signal)
  else if ('at' in known && 'at' in signal && signal.at < known.at) signals[index] = signal
}

function signalOf(write: Write): CommitSignal | undefined {
  switch (write.type) {
    case 'token.revoke':
    case 'token.retire':
    case 'subject.revoke':
      return { type: 'tokens' }
    case 'session.delete':
    case 'thread.delete':
      return { type: 'deleted' }
    case 'trigger.insert':
    case 'trigger.replace':
    case 'trigger.delete':
    case 'fire.insert':
    case 'fire.end':
      return { type: 'triggers' }
    case 'step.insert':
      return write.step.status === 'waiting' ? dueAt(write.step.dueAt) : undefined
    case 'step.change':
      return dueAt(write.change.dueAt)
    case 'approval.insert':
      return dueAt(earliest(write.approval.expiresAt, write.approval.remindAt))
    case 'run.insert':
      return write.run.startAt === undefined ? dueAt(write.run.deadlineAt) : { type: 'start', at: write.run.startAt }
    case 'run.transition':
      return write.change.startAt === undefined ? undefined : { type: 'start', at: write.change.startAt }
    default:
      return undefined
  }
}

const earliest = (one: EpochMs | undefined, other: EpochMs | undefined): EpochMs | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one

const dueAt = (at: EpochMs | undefined): CommitSignal | undefined =>
  at === undefined ? undefined : { type: 'due', at }
