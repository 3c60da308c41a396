import { nearest } from '@perdure/protocol'
import { type CliError, usageError } from '../cli-error.ts'

/** A usage error that suggests the nearest command. */
export function unknownCommand(words: readonly string[], paths: readonly string[]): CliError {
  const path = words.join(' ')
  const near = nearest(path, paths)
  return usageError(`unknown command ${path}`, near === undefined ? 'run perdure --help' : `Did you mean ${near}?`)
}
