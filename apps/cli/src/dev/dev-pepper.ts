import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const PEPPER_BYTES = 32

/** The file beside the database that `berth dev` keeps its pepper in. */
export const devPepperPath = (storagePath: string): string => join(dirname(storagePath), 'dev-pepper')

/** Makes the pepper once; an existing one is kept, so that tokens outlive a restart. */
export async function ensureDevPepper(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const text = `${randomBytes(PEPPER_BYTES).toString('base64url')}\n`
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
