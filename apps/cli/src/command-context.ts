import type { Terminal } from './terminal.ts'

/** What an action gets besides its arguments and flags. */
export interface CommandContext {
  readonly terminal: Terminal
  /** Ends the command with another exit code than 0 without an error. */
  finish(exitCode: number): void
}
