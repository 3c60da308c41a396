import { isRefusal, perdureError, type Refusal, storageBusy } from '@perdure/ports'

/** What an error says about the statement and its transaction, if the transaction was not being committed. */
export type ErrorKind =
  /** The connection is lost or could not be made. */
  | 'lost'
  /** Another transaction was in the way: the same transaction may succeed later. */
  | 'contended'
  /** The statement took too long. */
  | 'timeout'
  /** The server cannot write, because it is a standby. */
  | 'read-only'
  | 'full'
  /** The server rejected the statement. */
  | 'rejected'
  /** Not an error of the database. */
  | 'foreign'

/** A prepared statement returns other columns than before: another release has migrated the schema. */
export const OUTDATED_STATEMENT = '0A000'

/**
 * Lost are also connections whose login was refused (28), whose prepared statements no longer fit the schema (0A000), and
 * whose server has lost its files (58).
 */
const KINDS: readonly (readonly [pattern: RegExp, kind: ErrorKind])[] = [
  [/^(?:08...|28...|57P0[1-5]|25P0[34]|53300|58...|0A000)$/, 'lost'],
  [/^(?:40001|40P01|55P03|53200|53400)$/, 'contended'],
  [/^57014$/, 'timeout'],
  [/^25006$/, 'read-only'],
  [/^53100$/, 'full'],
  [/^[0-9A-Z]{5}$/, 'rejected'],
]

export function kindOf(error: unknown): ErrorKind {
  if (!(error instanceof Error) || isRefusal(error)) return 'foreign'
  const code = sqlStateOf(error)
  if (code !== undefined) return KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'rejected'
  return isOfConnection(error) ? 'lost' : 'foreign'
}

/** Errors of a login, of TLS and of a schema that another release has changed: the same configuration gets them again. */
const LASTING =
  /^(?:28...|0A000|CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)$/
const LASTING_MESSAGES = /^(?:The server does not support SSL|There was an error establishing an SSL|SASL: )/

/** Whether the same connection may succeed later: the server was out of reach, busy or a standby. */
export function isPassing(error: unknown): boolean {
  if (!PASSING.has(kindOf(error)) || !(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return !LASTING.test(code) && !LASTING_MESSAGES.test(error.message)
}

const PASSING: ReadonlySet<ErrorKind> = new Set(['lost', 'read-only', 'contended', 'timeout'])

/** The SQLSTATE of an error, or `connection` if the server did not report it. */
export const codeOf = (error: unknown): string => sqlStateOf(error) ?? 'connection'

/** The SQLSTATE of an error that the server reported. */
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error ? error.code : undefined
}

/** Messages of the driver for a connection that broke or could not be made; such an error has no code. */
const LOST_MESSAGES =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout|The server does not support SSL|There was an error establishing an SSL|Received unexpected \w+ message|received invalid response|SASL: |Cannot use a pool after)/

/** Codes of the operating system and of TLS. */
const CONNECTION_CODES =
  /^(?:E[A-Z0-9_]+|CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|HOSTNAME_MISMATCH|INVALID_CA)$/

/** A wrong argument has a code of its own, such as `ERR_INVALID_ARG_TYPE`. */
const isOfConnection = (error: Error): boolean => {
  if (error instanceof TypeError || error instanceof RangeError) return false
  if ('code' in error && typeof error.code === 'string') return CONNECTION_CODES.test(error.code)
  return LOST_MESSAGES.test(error.message)
}

/** Translates an error of the driver into the `PerdureError` that the ports promise. Returns any other error unchanged. */
export function translateError(error: unknown): unknown {
  const kind = kindOf(error)
  if (kind === 'foreign') return error
  if (kind === 'full') return perdureError('storage-full', { cause: error })
  if (kind === 'rejected') {
    return perdureError('internal-error', { message: 'The storage rejected a statement.', cause: error })
  }
  if (kind === 'lost' || kind === 'read-only') return unreachable(error)
  return storageBusy({
    message: 'Other transactions held up a statement for too long; nothing was written.',
    cause: error,
  })
}

/** The database could not be reached within the time that commits wait for it. */
export const unreachable = (cause?: unknown): Refusal => perdureError('storage-unavailable', { cause })
