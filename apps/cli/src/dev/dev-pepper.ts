import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '@perdure/ports'
import { makeDirectory } from '../make-directory.ts'

const PEPPER_BYTES = 32

/** The file beside the database that `perdure dev` keeps its pepper in. */
export const devPepperPath = (storagePath: string): string => join(dirname(storagePath), 'dev-pepper')

/**
 * Makes the pepper once; an existing one is kept, so that tokens outlive a restart.
 *
 * @throws StartError `config-invalid` when its folder cannot be made
 */
export async function ensureDevPepper(path: string): Promise<void> {
  const folder = dirname(path)
  await makeDirectory(folder, 0o700).catch((cause: unknown) => {
    throw new StartError('config-invalid', {
      message: `storage.path: the folder ${folder} cannot be made`,
      hint: 'check storage.path and the permissions above it',
      cause,
    })
  })
  const text = `${randomBytes(PEPPER_BYTES).toString('base64url')}\n`
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
