import { type EpochMs, MAX_CLOCK_SKEW_MS } from './clock.ts'
import type { RunKind, RunRecord } from './run-store.ts'

/**
 * Background work that one process does for all processes that share a storage. Every duty is safe when two processes
 * hold it for a moment: the storage decides, and the duty only saves work.
 */
export const DUTIES = [
  'consolidator-scan',
  'embedder',
  'recovery',
  'retention',
  'sweep',
  'timers',
  'triggers',
  'webhooks',
] as const
export type Duty = (typeof DUTIES)[number]

/** An agent or workflow that a process can execute. Without `version`, it executes the runs that have no version. */
export interface ClusterTarget {
  readonly kind: RunKind
  readonly id: string
  readonly version?: string | undefined
}

export interface ClaimQuery {
  readonly targets: readonly ClusterTarget[]
  /** Runs with a later `startAt` are not claimed. */
  readonly now: EpochMs
  readonly limit: number
  /**
   * The runs that this process has. Its reservation of any other run was lost with the answer of an earlier claim, and
   * such runs are returned again. When missing, reservations of this process are not examined.
   */
  readonly held?: readonly string[] | undefined
}

/**
 * Queued runs that wait for the same slots: those of one target and one owner, and of one session or one key of flow
 * control if the limits of the target apply to these.
 */
export interface RunLine extends Pick<ClaimQuery, 'targets' | 'now'> {
  readonly owner: string
  readonly sessionId?: string | undefined
  readonly concurrencyKey?: string | undefined
  readonly rateKey?: string | undefined
}

/** A process that no longer writes, and whose runs and keys may need recovery. */
export interface DepartedProcess {
  readonly executor: string
  readonly departedMs: number // how long ago
}

/** Port. The processes that share a storage, as one of them sees them. Must pass `clusterContract`. */
export interface Cluster {
  /** The name of this process in runs and idempotency records; `undefined` if no other process executes runs. */
  readonly executor: string | undefined
  /** Whether this process holds the duty now. Reads memory, and may change at any moment. */
  isMine(duty: Duty): boolean
  /**
   * Whether the lease of this process is valid. After the lease has expired, other processes may take over its runs at any
   * moment. Reads memory.
   */
  hasLease(): boolean
  /**
   * By how many milliseconds the clock of this process was ahead of that of the storage when they were last compared; 0
   * if nothing is known. While it is more than `MAX_CLOCK_SKEW_MS` in either direction, the process holds no duty and
   * claims nothing, and its engine starts no run. Reads memory.
   */
  clockSkewMs(): number
  /**
   * Reserves up to `limit` queued runs that no living process has reserved, those that wait longest first; each point of
   * priority counts as 10 seconds of waiting. A reservation only keeps the processes from starting the same run: the
   * commit that starts it decides. It ends with the process.
   */
  claim(query: ClaimQuery): Promise<readonly RunRecord[]>
  /** The queued run that goes first in the line, whether or not a process has reserved it. */
  firstInLine(line: RunLine): Promise<RunRecord | undefined>
  /** The processes that have left or whose lease has expired, until they are dismissed. None of them can write any more. */
  departed(): Promise<readonly DepartedProcess[]>
  /** Removes a process from `departed`, after its runs and keys have been recovered. */
  dismiss(executor: string): Promise<void>
  /** Releases every duty and every reservation, and takes no new ones. The process can still write. */
  retire(): Promise<void>
}

/** Whether the clock of this process agrees with that of the storage, as far as it is known. */
export const hasRightClock = ({ clockSkewMs }: Pick<Cluster, 'clockSkewMs'>): boolean =>
  Math.abs(clockSkewMs()) <= MAX_CLOCK_SKEW_MS

/** The cluster of a process that is alone on its storage: it holds every duty and needs no name. */
export const soleNode: Cluster = {
  executor: undefined,
  isMine: () => true,
  hasLease: () => true,
  clockSkewMs: () => 0,
  claim: async () => [],
  firstInLine: async () => undefined,
  departed: async () => [],
  dismiss: async () => undefined,
  retire: async () => undefined,
}
