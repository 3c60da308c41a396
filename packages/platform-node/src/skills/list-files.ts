import { join } from 'node:path'
import { perdureError } from '@perdure/ports'
import type { FileAccess } from './file-access.ts'

const MAX_FILES = 1_000
const MAX_DEPTH = 16

/**
 * Lists the paths of the regular files below a folder, sorted, with `/` as separator. Skips links and special files.
 *
 * @throws PerdureError `validation-failed` when there are more files or nested folders than a skill may have
 */
export async function listFiles(access: Pick<FileAccess, 'readdir'>, root: string): Promise<readonly string[]> {
  const files: string[] = []
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await access.readdir(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) files.push(path)
    }
    if (files.length > MAX_FILES || folder.split('/').length > MAX_DEPTH || folders.length > MAX_FILES) {
      throw perdureError('validation-failed', {
        message: `a skill may have at most ${MAX_FILES} files, in folders nested at most ${MAX_DEPTH} deep`,
      })
    }
  }
  return files.sort()
}
