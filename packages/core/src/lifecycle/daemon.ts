/** Something that works in the background while the server serves. */
export interface Daemon {
  readonly name: string
  /** Called once, after the listener is bound. */
  start(): void
  /** Begins nothing more; resolves when nothing of it is under way, or its own limit has passed. Idempotent. */
  stop(): Promise<void>
}
