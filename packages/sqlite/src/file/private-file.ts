import { chmodSync, closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { StartError } from '@perdure/ports'

/** Creates the directory of `path` (0700) if it is missing. Returns the path with its symbolic links resolved. */
export function preparePath(path: string): string {
  const absolute = resolve(path)
  try {
    makeDirectory(dirname(absolute))
    return existsSync(absolute) ? realpathSync(absolute) : join(realpathSync(dirname(absolute)), basename(absolute))
  } catch (error) {
    throw new StartError('config-invalid', {
      message: `The directory of ${absolute} cannot be created or read.`,
      hint: 'Check storage.path and the permissions of its directory.',
      cause: error,
    })
  }
}

/** Creates parents one by one, because a recursive `mkdir` hangs if the kernel answers ENOENT, as it does in /proc. */
function makeDirectory(path: string): void {
  if (isDirectory(path)) return
  makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isDirectory(path)) throw error
  }
}

/**
 * Creates an empty file that only its owner may read and write. An existing file is never opened, because closing it
 * would release the locks that SQLite holds on it in this process.
 */
export function createPrivateFile(path: string): void {
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (isCode(error, 'EEXIST')) return
    throw new StartError('config-invalid', {
      message: `The file ${path} cannot be created.`,
      hint: 'Check storage.path and the permissions of its directory.',
      cause: error,
    })
  }
}

/** Removes the permissions of group and others from the database file, its WAL and its WAL index. */
export function restrictFiles(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined || (stat.mode & 0o077) === 0 || stat.uid !== process.getuid?.()) continue
    unlessGone(() => chmodSync(file, 0o600))
  }
}

/**
 * Calls `use`; `undefined` if the file does not exist. The last process that closes a database removes the WAL and its
 * index, so these may vanish between two calls.
 */
export function unlessGone<T>(use: () => T): T | undefined {
  try {
    return use()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** A point in time as a part of a file name. */
export const fileStamp = (atMs: number): string => new Date(atMs).toISOString().replaceAll(/[-:.]/g, '')

/** Size in bytes; 0 if the file does not exist. */
export const fileSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
