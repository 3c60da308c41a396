import type { AgentRegistration, WorkflowRegistration } from '@perdure/core'

export interface PerdureServer {
  /** Before `start`. */
  readonly agents: { register<Input>(registration: AgentRegistration<Input>): void }
  /** Before `start`. */
  readonly workflows: { register<Input>(registration: WorkflowRegistration<Input>): void }
  /** Pre-bind validation alone: opens nothing. @throws StartError */
  check(): Promise<void>
  /** Resolves once the server answers. A failed start undoes what it started. @throws StartError */
  start(): Promise<{ readonly host: string; readonly port: number; readonly basePath: string }>
  /**
   * Drains and stops: no new runs, runs in flight get `server.shutdown.drainTimeoutMs`, then their signals fire.
   * `force` skips the waiting. Idempotent. Resolves within that time and five seconds, forced within two seconds,
   * whatever hangs.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>
  /** Resolves when the storage fails with an unknown outcome: stop the process, restart recovers. */
  readonly fatal: Promise<unknown>
  /**
   * For the process's own listeners to `unhandledRejection` and `uncaughtException`, and only inside them: whether code
   * of a run has left the error behind. Then it is logged with the run, and nobody else needs to care.
   */
  attribute(error: unknown): boolean
}
