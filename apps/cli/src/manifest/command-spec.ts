import type { GenericSchema } from 'valibot'
import type { Call } from '../call.ts'
import type { ExitName } from '../exit-codes.ts'

export interface ArgumentSpec {
  readonly name: string
  readonly note: string
  /** One that need not be given. */
  readonly optional?: true
  /** Takes all words that are left. */
  readonly variadic?: true
}

export interface FlagSpec {
  /** Without dashes, in kebab-case. The handler gets it in camelCase. */
  readonly name: string
  readonly short?: string
  /** `boolean` takes no value; `list` is split at commas; `pairs` may be repeated, each `key=value`. */
  readonly type: 'boolean' | 'string' | 'integer' | 'list' | 'pairs' | 'span'
  readonly note: string
  /** What the value is called in help; the name of the flag without it. */
  readonly value?: string
  readonly default?: string | number
  readonly choices?: readonly string[]
  readonly required?: true
}

/** What a command works on, and so which flags it shares with others of its kind. */
export type Target = 'server' | 'storage' | 'none'

/** The handler of a command. `values` holds its arguments and flags by name; `never` lets each say which it expects. */
export type Handler = (call: Call, values: never) => void | Promise<void>

/**
 * One command: parsing, help, completion, the reference page and the tests that hold for all commands derive from it.
 */
export interface CommandSpec {
  /** The words that name it, such as `runs list`. */
  readonly path: string
  readonly summary: string
  /** `server`: over HTTP; `storage`: configuration, secrets and database file; `none`: neither. */
  readonly target: Target
  readonly arguments?: readonly ArgumentSpec[]
  readonly flags?: readonly FlagSpec[]
  readonly examples: readonly [string, string]
  /** Exit codes it can end with, besides 0, 1, 2 and 130. */
  readonly exits?: readonly ExitName[]
  /** `document`: one JSON document with `--json`; `stream`: one a line; `text`: what it prints is text by nature. */
  readonly output: 'document' | 'stream' | 'text'
  /** Of the document, or of one line of the stream. */
  readonly schema: GenericSchema
  /** Runs until it is stopped. */
  readonly isService?: true
  /** The work of a command is loaded when it runs, so that help needs no driver. */
  readonly load: () => Promise<Handler>
}
