/** Background work that runs while the server is serving. */
export interface Daemon {
  readonly name: string
  /** Called once, after the listener is bound. */
  start(): void
  /** Starts no more work; resolves when running work has ended or its timeout has passed. Idempotent. */
  stop(): Promise<void>
}
