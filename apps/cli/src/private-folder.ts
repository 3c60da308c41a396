import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from 'create-perdure'

/**
 * Creates a folder for data or secrets unless it exists. Only its owner can read it, and git ignores its content. An
 * existing folder is left as it is.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  if (existsSync(path)) return
  await makeDirectory(path, 0o700)
  ignoreContent(path)
}

/** Makes git ignore a folder that was created just now, including the file that says so. */
export const ignoreContent = (path: string): void => writeFileSync(join(path, '.gitignore'), '*\n')
