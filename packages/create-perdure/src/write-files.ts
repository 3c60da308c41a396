import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectory } from './make-directory.ts'
import type { TemplateFile } from './templates.ts'

/** Writes files below a folder, and creates the folders that are missing. Rejects with `EEXIST` rather than replace a file. */
export async function writeFiles(folder: string, files: readonly TemplateFile[]): Promise<void> {
  for (const { path, text } of files) {
    const target = join(folder, path)
    await makeDirectory(dirname(target))
    await writeFile(target, text, { flag: 'wx' })
  }
}
