import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Encryption } from './encryption.ts'
import { databaseOpener } from './open-database.ts'
import { fileSize, preparePath } from './private-file.ts'
import { replaceFile } from './replace-file.ts'

/** The contents of files that a backup has beside its database. */
export interface BlobCopies {
  readonly folder: string // name without directory
  readonly files: number
  readonly bytes: number
}

export const blobCopiesOf = (copy: string): string => `${copy}.files`

const FOLDER = /^[0-9a-f]{2}$/
const NAME = /^[0-9a-f]{62}$/

/**
 * Copies every content that the target lacks, as it is stored. A content never changes, so neither copying it while a server
 * runs nor keeping what the target has can mix two states.
 *
 * @returns how many the target then has, and their size
 */
export function copyBlobs(from: string, to: string): Omit<BlobCopies, 'folder'> {
  let [files, bytes] = [0, 0]
  for (const { folder, name } of namesIn(from)) {
    const [source, target] = [join(from, folder, name), join(to, folder, name)]
    if (fileSize(target) !== fileSize(source)) {
      mkdirSync(join(to, folder), { recursive: true, mode: 0o700 })
      replaceFile(preparePath(target), (temporary) => copyFileSync(source, temporary))
    }
    files += 1
    bytes += fileSize(target)
  }
  return { files, bytes }
}

function* namesIn(directory: string): Generator<{ readonly folder: string; readonly name: string }> {
  for (const folder of entriesOf(directory).filter((name) => FOLDER.test(name))) {
    for (const name of entriesOf(join(directory, folder))) if (NAME.test(name)) yield { folder, name }
  }
}

function entriesOf(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** Names each content of a file in the copied database that is missing or damaged beside the copy. */
export async function blobProblems(copy: string, encryption: Encryption | undefined): Promise<readonly string[]> {
  const database = (await databaseOpener(encryption))(copy, { readonly: true, fileMustExist: true })
  try {
    if ((database.pragma('user_version', { simple: true }) as number) < FIRST_WITH_FILES) return []
    const hashes = database.prepare('SELECT DISTINCT sha256 FROM files WHERE content IS NULL').pluck().all() as string[]
    return hashes.flatMap((sha256) => {
      const path = join(blobCopiesOf(copy), sha256.slice(0, 2), sha256.slice(2))
      if (fileSize(path) === 0) return [`files: the content ${sha256} is missing`]
      // An encrypted content is verified when it is read.
      const isSame = encryption !== undefined || hashOf(path) === sha256
      return isSame ? [] : [`files: the content ${sha256} is damaged`]
    })
  } finally {
    database.close()
  }
}

const FIRST_WITH_FILES = 30

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
