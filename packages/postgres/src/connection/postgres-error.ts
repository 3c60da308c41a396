import { AppError, storageBusy } from '@perdure/ports'

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

const KINDS: readonly (readonly [pattern: RegExp, kind: ErrorKind])[] = [
  [/^(?:08...|57P0[1-5]|25P0[34]|53300)$/, 'lost'],
  [/^(?:40001|40P01|55P03)$/, 'contended'],
  [/^57014$/, 'timeout'],
  [/^25006$/, 'read-only'],
  [/^53100$/, 'full'],
  [/^[0-9A-Z]{5}$/, 'rejected'],
]

export function kindOf(error: unknown): ErrorKind {
  if (!(error instanceof Error) || error instanceof AppError) return 'foreign'
  const code = sqlStateOf(error)
  if (code !== undefined) return KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'rejected'
  return isOfConnection(error) ? 'lost' : 'foreign'
}

/** The SQLSTATE of an error, or `connection` if the server did not report it. */
export const codeOf = (error: unknown): string => sqlStateOf(error) ?? 'connection'

/** The SQLSTATE of an error that the server reported. */
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error ? error.code : undefined
}

/** Messages of the driver for a connection that broke; such an error has no code. */
const LOST_MESSAGES =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout|The server does not support SSL|Cannot use a pool after)/

const isOfConnection = (error: Error): boolean =>
  ('code' in error && typeof error.code === 'string' && /^E[A-Z_]+$/.test(error.code)) ||
  LOST_MESSAGES.test(error.message)

/** Translates an error of the driver into the `AppError` that the ports promise. Returns any other error unchanged. */
export function translateError(error: unknown): unknown {
  const kind = kindOf(error)
  if (kind === 'foreign') return error
  if (kind === 'full') return new AppError('storage-full', { cause: error })
  if (kind === 'rejected') {
    return new AppError('internal-error', { message: 'The storage rejected a statement.', cause: error })
  }
  return storageBusy({ cause: error })
}
