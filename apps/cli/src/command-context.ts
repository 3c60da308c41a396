import type { Terminal } from './terminal.ts'

/** The process around a command. */
export interface CommandContext {
  readonly terminal: Terminal
  /** Sets the exit code of a command that ends without an error. */
  finish(exitCode: number): void
}
