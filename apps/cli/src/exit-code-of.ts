import { isRefusal, StartError } from '@perdure/ports'
import { ERRORS } from '@perdure/protocol'
import { isCliError } from './cli-error.ts'
import { isClientError } from './client-error.ts'
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

/** Errors raised by the client itself, which may have no HTTP status. */
const BY_CLIENT_ERROR: Readonly<Record<string, ExitName>> = {
  'network-failed': 'unreachable',
  timeout: 'unreachable',
  'auth-required': 'denied',
  'auth-invalid': 'denied',
  'auth-revoked': 'denied',
  'scope-denied': 'denied',
}

export function exitCodeOf(error: unknown): number {
  return EXIT_CODES[exitNameOf(error)].code
}

function exitNameOf(error: unknown): ExitName {
  if (isCliError(error)) return error.exit
  if (error instanceof StartError) return error.kind === 'database-unavailable' ? 'unreachable' : 'usage'
  if (isClientError(error)) return BY_CLIENT_ERROR[error.code] ?? BY_STATUS[error.status ?? 0] ?? 'failed'
  if (!isRefusal(error)) return 'failed'
  return error.code === 'storage-failed' ? 'storageFault' : (BY_STATUS[ERRORS[error.code].status] ?? 'failed')
}
