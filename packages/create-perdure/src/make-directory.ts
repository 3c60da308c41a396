import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder and its parents one at a time, because a recursive `mkdir` never returns where the kernel answers
 * ENOENT, as in /proc.
 */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  if (await isDirectory(path)) return
  await makeDirectory(dirname(path), mode)
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (!(await isDirectory(path))) throw error
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
