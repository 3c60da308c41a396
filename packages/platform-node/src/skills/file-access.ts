import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'

/** The parts of a file handle of Node.js that are used, so that the declarations do not need the types of Node.js. */
interface OpenFile {
  stat(): Promise<{ readonly size: number; isFile(): boolean }>
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>
  close(): Promise<void>
}

interface FolderEntry {
  readonly name: string
  isDirectory(): boolean
  isFile(): boolean
}

/**
 * The file system operations of the skill store. A test passes its own implementation to record which files are opened.
 */
export interface FileAccess {
  open(path: string): Promise<OpenFile>
  readdir(path: string): Promise<readonly FolderEntry[]>
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
