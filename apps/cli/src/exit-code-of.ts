import { AppError, StartError } from '@berth/ports'
import { ERRORS } from '@berth/protocol'
import { isCliError } from './cli-error.ts'
import { EXIT_CODES, type ExitName } from './exit-codes.ts'

const BY_STATUS: Readonly<Record<number, ExitName>> = {
  400: 'usage',
  401: 'denied',
  403: 'denied',
  408: 'unreachable',
  409: 'conflict',
  429: 'unreachable',
  503: 'unreachable',
}

/** The exit code of a command that threw. */
export function exitCodeOf(error: unknown): number {
  return EXIT_CODES[exitNameOf(error)].code
}

function exitNameOf(error: unknown): ExitName {
  if (isCliError(error)) return error.exit
  if (error instanceof StartError) return 'usage'
  if (!(error instanceof AppError)) return 'failed'
  return error.id === 'storage-failed' ? 'storageFault' : (BY_STATUS[ERRORS[error.id].status] ?? 'failed')
}
