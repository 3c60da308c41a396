import type { EpochMs } from './clock.ts'
import type { Duty } from './cluster.ts'

/** What a process tells the others of its cluster about itself. */
export interface NodeIdentity {
  readonly version: string
  /** Fingerprints of the token peppers, the current one first. Empty if no token is checked. */
  readonly peppers: readonly string[]
  /** Fingerprints of the parts of the configuration that should be the same for all processes. */
  readonly settings: Readonly<Record<string, string>>
  /** The code of the process: kind, id and version of each registration, as `nodeTarget` writes them. */
  readonly targets: readonly string[]
  /** What the configuration of the process declares, as `nodeDeclaration` writes it. */
  readonly declares: readonly string[]
}

/** The code of a run as one text. Without a version, the run executes the registration without one. */
export const nodeTarget = (kind: string, id: string, version = ''): string => `${kind} ${id} ${version}`

/**
 * Something that a configuration declares, as one text: the noun, its id, and a fingerprint or value. Without one, the
 * beginning of that text.
 */
export const nodeDeclaration = (noun: string, id: string, value = ''): string => `${noun} ${id} ${value}`

/** A living process of a cluster. */
export interface NodeRecord {
  readonly id: string
  readonly name: string
  readonly version: string | undefined
  readonly settings: Readonly<Record<string, string>>
  /** Missing if the process does not tell, because its release is older. */
  readonly declares?: readonly string[] | undefined
  readonly startedAt: EpochMs
  readonly leaseMs: number // how much is left
  readonly isDraining: boolean
  readonly runs: number // executing
  readonly duties: readonly Duty[]
}

/** The queue of all processes. */
export interface ClusterLoad {
  readonly queued: number
  /** How long the oldest queued run has waited. */
  readonly oldestMs: number
  /** Queued runs of which no living process has the code. */
  readonly withoutCode: number
}

/** Port. The living processes of a cluster, for its operators. */
export interface NodeDirectory {
  /** The processes whose lease has not run out, oldest first. */
  list(): Promise<readonly NodeRecord[]>
  /**
   * Asks a process to drain: within a second it calls the callback of its `onDrainRequested`. Returns false if no living process has
   * this id. A repeated request changes nothing.
   */
  requestDrain(id: string): Promise<boolean>
  /** Sets the function that is called once when somebody has asked this process to drain. */
  onDrainRequested(callback: () => void): void
  load(): Promise<ClusterLoad>
  /** Milliseconds until others may take over the runs of this process; 0 if they may. Reads memory. */
  leaseMs(): number
}
