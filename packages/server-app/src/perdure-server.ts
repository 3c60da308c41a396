import type { AgentRegistration, CheckedRun, ReplayedRun, ReplayFilter, WorkflowRegistration } from '@perdure/core'
import type { EmbeddedServer } from './embedding/entry.ts'

export interface Listening {
  readonly host: string
  readonly port: number
  /** Prefix of every route. */
  readonly basePath: string
}

/** Without `host` and `port` if the server opened no port. */
export type Reachable = Partial<Listening> & Pick<Listening, 'basePath'>

export interface PerdureServer extends EmbeddedServer {
  /** Only before `start()`. */
  readonly agents: { register<Input, Output>(registration: AgentRegistration<Input, Output>): void }
  /** Only before `start()`. */
  readonly workflows: { register<Input, Output>(registration: WorkflowRegistration<Input, Output>): void }
  /** Runs only the validation that precedes a start; opens nothing. @throws StartError */
  check(): Promise<void>
  /**
   * Replays every open run of the storage against the registered code. Writes nothing and executes no durable call, so
   * it may be used beside a running server. Only before `start()`, and only with a storage in a file.
   *
   * @throws StartError
   */
  checkRuns(): AsyncGenerator<CheckedRun, void, void>
  /**
   * Replays the ended runs of the storage against the registered code, and names the first difference of each. Like
   * `checkRuns`, it writes nothing, executes no durable call, and asks no model.
   *
   * @throws StartError
   */
  replayRuns(filter?: ReplayFilter): AsyncGenerator<ReplayedRun, void, void>
  /**
   * Resolves once the server answers requests. A failed start closes everything it opened. With `listen: false`, the
   * server opens no port, and only the embedding program can call it, through `fetch`, `upgrade` and `client`.
   *
   * @throws StartError
   */
  start(options: { readonly listen: boolean }): Promise<Reachable>
  start(): Promise<Listening>
  /**
   * Drains and stops. Refuses new runs; executing runs get `server.shutdown.drainTimeoutMs` before their signals abort.
   * `force` skips that wait. Idempotent. Always resolves: within the drain timeout plus five seconds, or within two
   * seconds when forced.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>
  /**
   * Resolves when the outcome of a commit is unknown. End the process then; the next start recovers the interrupted
   * work.
   */
  readonly fatal: Promise<unknown>
  /**
   * Call it in a listener for `unhandledRejection` or `uncaughtException`, and nowhere else. If the error comes from
   * the code of a run, logs it with the run id and returns true: the process can continue. Otherwise returns false.
   */
  attribute(error: unknown): boolean
}
