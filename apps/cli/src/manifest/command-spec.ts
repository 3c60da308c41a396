import type { GenericSchema } from 'valibot'
import type { Call } from '../call.ts'
import type { ExitName } from '../exit-codes.ts'

export interface ArgumentSpec {
  readonly name: string
  readonly note: string
  readonly optional?: true
  /** Takes all remaining words. */
  readonly variadic?: true
  /** The argument is an id of this kind: the command also takes its beginning, and `last`. */
  readonly idOf?: IdKind
}

export type IdKind = 'run' | 'approval' | 'session' | 'token'

export interface FlagSpec {
  /** Without dashes, in kebab-case. The handler gets it in camelCase. */
  readonly name: string
  readonly short?: string
  /**
   * `boolean` takes no value; `list` is split at commas; `pairs` may be repeated, each `key=value`. `secret` takes `-`
   * for stdin, `@file`, or the secret itself with a warning; the handler gets the secret.
   */
  readonly type: 'boolean' | 'string' | 'integer' | 'list' | 'pairs' | 'duration' | 'secret'
  readonly note: string
  /** What help calls the value. Default: the flag name. */
  readonly value?: string
  readonly default?: string | number
  readonly choices?: readonly string[]
  /** The smallest and the largest integer. Default: any integer from 0. */
  readonly range?: readonly [min: number, max: number]
  readonly required?: true
  /** The value is an id of this kind: the flag also takes its beginning, and `last`. */
  readonly idOf?: IdKind
  /** The value may be left out; the handler then gets this value. */
  readonly bare?: number
}

/** What a command works on; decides which shared flags it has. */
export type Target = 'server' | 'storage' | 'none'

/**
 * Handles a command. `values` holds arguments and flags by name; `never` lets each handler declare the type it expects.
 */
export type Handler = (call: Call, values: never) => void | Promise<void>

/**
 * One command. Parsing, help, completion, the reference page and the tests that run for every command derive from it.
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
  /** Exit codes besides 0, 1, 2 and 130. */
  readonly exits?: readonly ExitName[]
  /** With `--json`, `document` writes one JSON document and `stream` one per line; `text` always writes text. */
  readonly output: 'document' | 'stream' | 'text'
  /** Schema of the document, or of one line of the stream. */
  readonly schema: GenericSchema
  /** Keeps running until it is stopped. */
  readonly isService?: true
  /** Loads the handler when the command runs, so that help does not load the storage driver. */
  readonly load: () => Promise<Handler>
}

/** The commands that begin with the same word. */
export interface CommandGroup {
  /** Missing if the word alone is the command. */
  readonly summary?: string
  readonly commands: readonly CommandSpec[]
}
