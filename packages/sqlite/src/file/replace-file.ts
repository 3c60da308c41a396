import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { createPrivateFile } from './private-file.ts'

/**
 * Lets `write` create a file under a temporary name, flushes that file and renames it to `target`. Readers see either
 * the old file or the complete new one. A failure leaves no file behind.
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

/** Suffix of a file that is not complete yet. */
const PARTIAL = '.partial'

/** The copy belongs to its owner only, whatever the mode of `source`. Shares the blocks where the disk supports that. */
export const copyTo = (source: string) => (temporary: string) => {
  createPrivateFile(temporary)
  copyFileSync(source, temporary, constants.COPYFILE_FICLONE)
  chmodSync(temporary, 0o600)
}

/** Hashes the whole file in constant memory; lower-case hex. */
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
