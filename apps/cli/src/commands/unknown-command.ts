import { nearest } from '@perdure/protocol'
import { type CliError, usageError } from '../cli-error.ts'

/** A refusal that proposes the nearest of the commands there are. */
export function unknownCommand(words: readonly string[], paths: readonly string[]): CliError {
  const path = words.join(' ')
  const near = nearest(path, paths)
  return usageError(`there is no command ${path}`, near === undefined ? 'see perdure --help' : `Did you mean ${near}?`)
}
