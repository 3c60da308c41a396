import { AppError, StartError } from '@perdure/ports'

/** What a failure of the driver means to callers of the ports. Errors of other origin pass unchanged. */
export function translateError(error: unknown): unknown {
  if (!isSqliteError(error)) return error
  if (isBusy(error.code)) return new AppError('SQLITE_BUSY', { cause: error })
  if (error.code === 'SQLITE_FULL') return new AppError('storage-full', { cause: error })
  if (isFatal(error.code)) return new AppError('storage-failed', { cause: error })
  return new AppError('internal-error', { message: 'The storage refused a statement.', cause: error })
}

/** What a failure of the driver means before there is a storage. */
export function translateStartError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error
  if (isBusy(error.code)) return lockedError(path, error)
  if (error.code === 'SQLITE_CANTOPEN' || error.code.startsWith('SQLITE_READONLY')) {
    return new StartError('config-invalid', {
      message: `The database file ${path} cannot be opened for writing.`,
      hint: 'Check storage.path and the permissions of the file and its directory.',
      cause: error,
    })
  }
  return isFatal(error.code) ? corruptError(path, error) : error
}

export interface SqliteError extends Error {
  readonly code: string
}

/** Of either driver: each has a class of its own. */
export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && error.name === 'SqliteError' && 'code' in error && typeof error.code === 'string'

/** Another connection has the lock, whatever for. */
export const isBusyError = (error: unknown): boolean => isSqliteError(error) && isBusy(error.code)

export const lockedError = (path: string, cause?: unknown): StartError =>
  new StartError('storage-locked', {
    message: `Another process holds the database file ${path}.`,
    hint: 'Stop the other server, or give this one a storage.path of its own.',
    cause,
  })

export const corruptError = (path: string, cause?: unknown): StartError =>
  new StartError('storage-corrupt', {
    message: `The file ${path} is damaged or not a Perdure database.`,
    hint: 'The file was left as it is. Restore a copy, point storage.path elsewhere, or, if it is encrypted, enable its encryption.',
    cause,
  })

export const brokenLogError = (path: string): StartError =>
  new StartError('storage-corrupt', {
    message: `The log ${path}-wal is damaged, and commits that were acknowledged stand behind the damage.`,
    hint: 'The files were left as they are. Restore a copy; or keep what stands before the damage and lose the rest: `perdure backup create --out rest.db`, then `perdure restore rest.db`.',
  })

/** SQLite would throw the log away. */
export const lonelyLogError = (path: string): StartError =>
  new StartError('storage-corrupt', {
    message: `The file ${path} is empty or missing, and its log ${path}-wal is not.`,
    hint: 'The log was left as it is. Put the file back beside it; to begin anew, remove the log too.',
  })

export const wrongPassphraseError = (path: string, cause?: unknown): StartError =>
  new StartError('encryption-passphrase-wrong', {
    message: `The file ${path} cannot be read with this passphrase.`,
    hint: 'The file was left as it is. Give the passphrase it was made with; if that is the one, the file is damaged.',
    cause,
  })

/** Whether the driver refused the statement and nothing else is wrong: a constraint, a trigger, a missing table. */
export const isRefusal = (error: unknown): boolean =>
  isSqliteError(error) && !isBusy(error.code) && error.code !== 'SQLITE_FULL' && !isFatal(error.code)

/** Whether the state on disk is unknown after this error, so that nothing more may be written. */
const FATAL = ['SQLITE_IOERR', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_CANTOPEN', 'SQLITE_READONLY']

const isFatal = (code: string): boolean => FATAL.some((prefix) => code.startsWith(prefix))

const isBusy = (code: string): boolean => code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')
