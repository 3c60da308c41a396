import { constants, type Dirent } from 'node:fs'
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises'

/** The ways in which skills touch the file system; a test passes its own to see what is opened. */
export interface FileAccess {
  open(path: string): Promise<FileHandle>
  readdir(path: string): Promise<Dirent[]>
  realpath(path: string): Promise<string>
}

// O_NOFOLLOW: what was resolved must not have become a link. O_NONBLOCK: a named pipe must fail, not wait for a writer.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0)

export const fileAccess: FileAccess = {
  open: (path) => open(path, FLAGS),
  readdir: (path) => readdir(path, { withFileTypes: true }),
  realpath,
}

/** What the system says of something that is not there. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
