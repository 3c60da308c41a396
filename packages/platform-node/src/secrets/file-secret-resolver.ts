import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { SecretResolver } from '@perdure/ports'

export interface FileSecretResolverOptions {
  /** Base of relative paths. */
  readonly baseDir: string
}

const MAX_BYTES = 65_536
const BEYOND_OWNER = 0o077

/** `file:path`: the bytes of a regular file without its last line break. Warns if other users have access. */
export const fileSecretResolver = ({ baseDir }: FileSecretResolverOptions): SecretResolver => ({
  scheme: 'file',
  async resolve(reference) {
    const path = resolve(baseDir, reference.slice('file:'.length))
    const file = await openIfPresent(path)
    if (file === undefined) return undefined
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new Error(`secret file ${path} is not a regular file`)
      if (stats.size > MAX_BYTES) throw new Error(`secret file ${path} is larger than ${MAX_BYTES} bytes`)
      const bytes = withoutLastLineBreak(await file.readFile())
      if (process.platform === 'win32' || (stats.mode & BEYOND_OWNER) === 0) return { bytes }
      const shown = (stats.mode & 0o777).toString(8).padStart(4, '0')
      return { bytes, warning: `secret file ${path} has mode ${shown}; make it 0600` }
    } finally {
      await file.close()
    }
  },
})

// With O_NONBLOCK, a named pipe opens without waiting for a writer and then fails the check for a regular file.
async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new Error(`secret file ${path} cannot be read (${code})`, { cause: error })
  }
}

function withoutLastLineBreak(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== 0x0a) return bytes
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1)
}
