import { perdureError, StartError, storageBusy } from '@perdure/ports'

/** Translates a driver error into the `PerdureError` that the ports promise. Returns any other error unchanged. */
export function translateError(error: unknown): unknown {
  if (!isSqliteError(error)) return error
  if (isBusy(error.code)) return storageBusy({ cause: error })
  if (error.code === 'SQLITE_FULL') return perdureError('storage-full', { cause: error })
  if (isFatal(error.code)) return perdureError('storage-failed', { cause: error })
  return perdureError('internal-error', { message: 'The storage rejected a statement.', cause: error })
}

/** Translates a driver error thrown while opening a file into a `StartError`. Returns any other error unchanged. */
export function translateStartError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error
  if (isBusy(error.code)) return lockedError(path, error)
  if (error.code === 'SQLITE_CANTOPEN' || error.code.startsWith('SQLITE_READONLY')) {
    return new StartError('config-invalid', {
      message: `The database file ${path} cannot be opened for writing.`,
      hint: 'Check storage.path, the permissions of the file and its directory, and that files can be created there.',
      cause: error,
    })
  }
  return isFatal(error.code) ? corruptError(path, error) : error
}

export interface SqliteError extends Error {
  readonly code: string
}

/** Checks the name of the error, not its class, because each of the two drivers has its own error class. */
export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && error.name === 'SqliteError' && 'code' in error && typeof error.code === 'string'

/** Whether another connection holds a lock that the statement needs. */
export const isBusyError = (error: unknown): boolean => isSqliteError(error) && isBusy(error.code)

export const lockedError = (path: string, cause?: unknown): StartError =>
  new StartError('storage-locked', {
    message: `Another process holds the database file ${path}.`,
    hint: 'Stop the other server, or set storage.path to a different file.',
    cause,
  })

export const corruptError = (path: string, cause?: unknown): StartError =>
  new StartError('storage-corrupt', {
    message: `The file ${path} is damaged or is not a Perdure database.`,
    hint: 'Restore a backup, set storage.path to another file, or enable encryption if the file is encrypted. The file was not changed.',
    cause,
  })

export const damagedWalError = (path: string): StartError =>
  new StartError('storage-corrupt', {
    message: `The write-ahead log ${path}-wal is damaged, and acknowledged commits follow the damage.`,
    hint: 'Restore a backup. To keep only the commits before the damage instead, run `perdure backup create --out rest.db`, then `perdure restore rest.db`. The files were not changed.',
  })

export const lostLogError = (path: string): StartError =>
  new StartError('storage-corrupt', {
    message: `The file ${path} lacks commits that the last server acknowledged: its write-ahead log ${path}-wal was removed or emptied.`,
    hint: `Put the log back, or restore a backup with \`perdure restore\`. To start without these commits, delete ${path}.lock. The files were not changed.`,
  })

/** SQLite would discard the write-ahead log of an empty or missing file. */
export const orphanedWalError = (path: string): StartError =>
  new StartError('storage-corrupt', {
    message: `The file ${path} is empty or missing, but its write-ahead log ${path}-wal is not.`,
    hint: 'Put the database file back, or remove the log to start with a new database. The log was not changed.',
  })

export const wrongPassphraseError = (path: string, cause?: unknown): StartError =>
  new StartError('encryption-passphrase-wrong', {
    message: `The file ${path} cannot be read with this passphrase.`,
    hint: 'Use the passphrase that the file was created with. If the passphrase is right, the file is damaged: restore a backup. The file was not changed.',
    cause,
  })

/** Whether only the statement failed (a constraint, a trigger, a missing table) and the storage itself is fine. */
export const isStatementError = (error: unknown): boolean =>
  isSqliteError(error) && !isBusy(error.code) && error.code !== 'SQLITE_FULL' && !isFatal(error.code)

/** After these errors the state on disk is unknown, so nothing more may be written. */
const FATAL = ['SQLITE_IOERR', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_CANTOPEN', 'SQLITE_READONLY']

const isFatal = (code: string): boolean => FATAL.some((prefix) => code.startsWith(prefix))

const isBusy = (code: string): boolean => code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')
