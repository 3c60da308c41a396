/**
 * Background work that one process does for all processes that share a storage. Every duty is safe when two processes
 * hold it for a moment: the storage decides, and the duty only saves work.
 */
export const DUTIES = ['consolidator-scan', 'embedder', 'retention', 'sweep', 'timers', 'triggers'] as const
export type Duty = (typeof DUTIES)[number]

/** Port. What a process knows of the processes with which it shares its storage. */
export interface Cluster {
  /** The name of this process in runs and idempotency records; `undefined` if no other process executes runs. */
  readonly executor: string | undefined
  /** Whether this process holds the duty now. Reads memory, and may change at any moment. */
  isMine(duty: Duty): boolean
}

/** The cluster of a process that has its storage for itself: it holds every duty and needs no name. */
export const soleNode: Cluster = { executor: undefined, isMine: () => true }
