import type { NodeIdentity, Refusal } from '@perdure/ports'

/** The schema that a storage has opened. */
export interface OpenedSchema {
  readonly schema: string
  readonly schemaVersion: number
  /** The migrations that this process applied; `undefined` if it applied none. From 0 if it created the schema. */
  readonly change: { readonly from: number; readonly to: number } | undefined
}

export interface PostgresStorageOptions {
  /** Connection URL of the primary server, such as `postgres://perdure@db.internal/perdure`. */
  readonly url: string
  /** Schema that holds the tables; created if it is missing. */
  readonly schema?: string | undefined
  /** Upper limit for the connections of this process. */
  readonly poolSize?: number | undefined
  /** Time after which the server cancels a statement. */
  readonly statementTimeoutMs?: number | undefined
  /** How long a commit waits for a server that cannot be reached. */
  readonly commitWaitMs?: number | undefined
  /** Whether statements are sent before the results of earlier ones have arrived. */
  readonly pipeline?: boolean | undefined
  /** Whether other processes announce their commits to this one. Without it, the log is read more often. */
  readonly listen?: boolean | undefined
  /** Connection URL of the same server that does not lead through a connection pooler, for announcements. */
  readonly listenUrl?: string | undefined
  /** Certificate, in PEM, of the authority that signed the server's certificate. */
  readonly ca?: string | undefined
  /** Whether the schema is opened beside the server that owns it, for a few writes. */
  readonly isGuest?: boolean | undefined
  /** Whether other servers may use the schema at the same time. All servers of a schema must agree. */
  readonly cluster?: boolean | undefined
  /**
   * In a cluster: time after which the lease of this server expires if it is not renewed, and other servers take over its
   * runs. All servers of a schema should have the same value.
   */
  readonly leaseMs?: number | undefined
  /** In a cluster: what other servers learn about this one. */
  readonly identity?: NodeIdentity | undefined
  /** Whether the storage is writable only while a synchronous standby is connected, according to its status. */
  readonly requireSyncStandby?: boolean | undefined
  /** Called while the storage opens, after the schema is up to date. */
  readonly onOpened?: ((opened: OpenedSchema) => void) | undefined
  /** Called with a warning for the operator, such as a commit that was not replicated. */
  readonly onWarning?: ((message: string) => void) | undefined
  /** File that remembers the newest primary and position across a restart. */
  readonly historyPath?: string | undefined
  /** Ends the wait for a session that holds the lock of the schema: the opening fails with an `AbortError`. */
  readonly signal?: AbortSignal | undefined
  /** Clock for the timestamps of applied migrations, in epoch milliseconds. */
  readonly now?: (() => number) | undefined
  /**
   * Called at most once: when the outcome of a commit cannot be found, or when another process has taken over the database.
   * Must end the process.
   */
  readonly onFatal?: ((error: Refusal) => void) | undefined
}
