import { createHash } from 'node:crypto'
import { closeSync, copyFileSync, fsyncSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Puts a file that `write` makes under a temporary name in the place of `target`, at once and flushed: whoever looks sees
 * the old file or the whole new one. What fails leaves nothing behind.
 */
export function replaceFile(target: string, write: (temporary: string) => void): void {
  const temporary = `${target}${PARTIAL}`
  try {
    rmSync(temporary, { force: true })
    write(temporary)
    flush(temporary)
    renameSync(temporary, target)
    flush(dirname(target))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** What a file that is not complete is called until it is. */
const PARTIAL = '.partial'

export const copyTo = (source: string) => (temporary: string) => copyFileSync(source, temporary)

/** Of the whole file, in constant memory; lower-case hex. */
export function sha256OfFile(path: string): string {
  const hash = createHash('sha256')
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) hash.update(chunk.subarray(0, read))
    return hash.digest('hex')
  } finally {
    closeSync(file)
  }
}

const CHUNK_BYTES = 1024 * 1024

function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
