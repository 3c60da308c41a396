import { constants, type Dirent } from 'node:fs'
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises'

/**
 * The file system operations of the skill store. A test passes its own implementation to record which files are opened.
 */
export interface FileAccess {
  open(path: string): Promise<FileHandle>
  readdir(path: string): Promise<Dirent[]>
  realpath(path: string): Promise<string>
}

// With O_NOFOLLOW, open fails if the resolved path has become a link. With O_NONBLOCK, opening a named
// pipe does not wait for a writer.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0)

export const fileAccess: FileAccess = {
  open: (path) => open(path, FLAGS),
  readdir: (path) => readdir(path, { withFileTypes: true }),
  realpath,
}

/** Whether the error means that the path does not exist. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
