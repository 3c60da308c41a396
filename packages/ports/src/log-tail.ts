import type { CommitSignal } from './commit-signals.ts'
import type { StoredEvent } from './event-log.ts'
import type { JsonText } from './values/json-text.ts'

/** An event of the log. The payload is missing if no reader in this process watches its stream; read it from the log. */
export interface TailedEvent extends Omit<StoredEvent, 'payload'> {
  readonly payload?: JsonText | undefined
}

/** Consecutive events of the log, and what other processes have changed. */
export interface TailedCommits {
  /** In the order of their positions, immediately after the events that were delivered earlier. Some belong to no stream. */
  readonly events: readonly TailedEvent[]
  /** Those of the events that other processes have committed. */
  readonly foreign: readonly TailedEvent[]
  /** Changes by other processes that are not events. */
  readonly signals: readonly CommitSignal[]
}

/** The streams that have readers in this process. */
export interface WatchedStreams {
  readonly runIds: readonly string[]
  readonly sessionIds: readonly string[]
  readonly topics: readonly string[]
}

/** What a process does with the commits of all processes. Its methods must not throw. */
export interface LogFollower {
  /** The streams whose payloads this process needs. */
  watched(): WatchedStreams
  /** Whether a reader, a caller or the code of a run waits for commits of other processes. */
  isWaiting(): boolean
  deliver(commits: TailedCommits): void
  /**
   * The tail skips the events up to this position, because they are too many: the process must read everything again that
   * depends on the commits of other processes.
   */
  skip(position: number): void
}

export interface TailState {
  /** Whether every commit that is older than a second was delivered. */
  readonly isCurrent: boolean
  /** How long ago the end of the log was reached for the last time. */
  readonly lagMs: number
  /** Whether the database notifies this process of commits by others; otherwise the tail polls the log. */
  readonly isListening: boolean
}

/**
 * Port. Follows the log of a storage that several processes share. No other process writes to a storage without this
 * port. Must pass `logTailContract`.
 */
export interface LogTail {
  /**
   * Delivers every later commit of every process, each event once and in the order of positions. A commit of this process
   * is delivered before its promise resolves, unless commits of other processes come first. A commit of another process
   * is delivered after the promise of every commit of this process on which it may depend has resolved. Called once,
   * before the first commit of this process.
   */
  follow(follower: LogFollower): void
  state(): TailState
}
