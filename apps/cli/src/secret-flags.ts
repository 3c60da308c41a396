import { usageError } from './cli-error.ts'
import type { FlagSpec } from './manifest/command-spec.ts'
import { readSource } from './read-source.ts'
import type { Terminal } from './terminal.ts'

type Values = Readonly<Record<string, unknown>>

export interface ReadSecrets {
  /** The flag values, with each secret in place of `-` or `@file`. */
  readonly values: Values
  /** The terminal, without stdin if a secret was read from it. */
  readonly terminal: Terminal
}

/** Reads the secret flags of a command: `-` reads stdin and `@file` a file. Warns about a secret on the command line. */
export async function readSecretFlags(
  terminal: Terminal,
  specs: readonly FlagSpec[],
  values: Values,
): Promise<ReadSecrets> {
  let read: ReadSecrets = { values, terminal }
  for (const { name, type } of specs) {
    const given = type === 'secret' ? values[name] : undefined
    if (typeof given !== 'string') continue
    const secret = (await readSource(read.terminal, name, given)).trim()
    if (secret === '') throw usageError(`--${name}: the value is empty`, `check the source of --${name}`)
    if (!isSource(given) && values.quiet !== true) terminal.stderr.write(warningOf(name))
    read = {
      values: { ...read.values, [name]: secret },
      terminal: given === '-' ? withoutInput(read.terminal, name) : read.terminal,
    }
  }
  return read
}

const isSource = (value: string): boolean => value === '-' || value.startsWith('@')

const warningOf = (name: string): string =>
  `warning: --${name} on the command line is visible in the process list and in the shell history; ` +
  `set PERDURE_TOKEN, save it once with perdure context add, or pass --${name} - (stdin) or --${name} @file\n`

/** A later read would wait for input that never comes, or get nothing. */
const withoutInput = (terminal: Terminal, name: string): Terminal => ({
  ...terminal,
  get isInteractive() {
    return terminal.isInteractive
  },
  async readInput(): Promise<string> {
    throw usageError(`--${name} has already read stdin`, `pass --${name} @file, or set PERDURE_TOKEN`)
  },
})
