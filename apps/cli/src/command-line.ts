import type { GenericSchema } from 'valibot'

/** The command line itself, as the commands about commands see it. */
export interface CommandLine {
  /** Words of every command, such as `runs list`. */
  readonly paths: readonly string[]
  /** Of a command, a group or, without words, of all; `undefined` where there is none. */
  helpOf(words: readonly string[]): string | undefined
  /** Of what the command writes with `--json`; `undefined` where there is none. */
  schemaOf(path: string): GenericSchema | undefined
  completion(shell: 'bash' | 'zsh' | 'fish' | 'pwsh'): string
}
