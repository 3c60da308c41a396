import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '@perdure/ports'
import { makePrivateFolder } from '../private-folder.ts'

const PEPPER_BYTES = 32

/** The pepper file of `perdure dev`, next to the database. */
export const devPepperPath = (storagePath: string): string => join(dirname(storagePath), 'dev-pepper')

/**
 * Generates the pepper unless it exists, so that tokens stay valid after a restart.
 *
 * @throws StartError `config-invalid` if the folder of the pepper cannot be created
 */
export async function ensureDevPepper(path: string): Promise<void> {
  const folder = dirname(path)
  await makePrivateFolder(folder).catch((cause: unknown) => {
    throw new StartError('config-invalid', {
      message: `storage.path: cannot create the folder ${folder}`,
      hint: 'check storage.path and the permissions of its parent folders',
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
