import type { GenericSchema } from 'valibot'

export const SHELLS = ['bash', 'zsh', 'fish', 'pwsh'] as const
export type Shell = (typeof SHELLS)[number]

/** The command line as seen by the commands about commands: help, schema and completion. */
export interface CommandLine {
  /** Path of every command, such as `runs list`. */
  readonly paths: readonly string[]
  /** Help for a command or group; for the whole program if `words` is empty; `undefined` for an unknown command. */
  helpOf(words: readonly string[]): string | undefined
  /** Schema of the `--json` output; `undefined` for an unknown command. */
  schemaOf(path: string): GenericSchema | undefined
  completion(shell: Shell): string
}
