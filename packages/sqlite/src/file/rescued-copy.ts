import { existsSync, readdirSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StartError } from '@perdure/ports'
import { createPrivateFile, fileStamp, preparePath } from './private-file.ts'

const RESCUED = '.rescued-'

/** The name of the copy. `now` in epoch milliseconds. */
export const rescueName = ({ path, now }: { readonly path: string; readonly now: number }): string =>
  `${path}${RESCUED}${fileStamp(now)}`

/** Makes later starts refuse the database after a rescue that failed. Best effort. */
export function markUnsaved({ path, now }: { readonly path: string; readonly now: number }): void {
  try {
    createPrivateFile(`${rescueName({ path, now })}.failed`)
  } catch {}
}

/** Whether `copy` holds the content that a server saved when it lost the files of the database at `path`. */
export const isRescueOf = (copy: string, path: string): boolean =>
  preparePath(copy).startsWith(`${preparePath(path)}${RESCUED}`)

/** Whether `copy` is the file at `path` from before a migration or a restore. The contents of large files stay in place then. */
export const isKeptCopyOf = (copy: string, path: string): boolean =>
  preparePath(copy).startsWith(`${preparePath(path)}.before-`)

/** Renames a rescued copy that was restored, so that the next start is not refused. */
export const markRestored = (copy: string, path: string): void =>
  renameSync(
    copy,
    preparePath(copy).replace(`${preparePath(path)}${RESCUED}`, () => `${preparePath(path)}.restored-`),
  )

/**
 * A server that lost its database file leaves its content beside it. Starting with whatever is there instead would hide
 * acknowledged commits.
 *
 * @throws StartError `storage-replaced` while such content is there
 */
export function requireRestored(path: string): void {
  const folder = dirname(path)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const found = names.find((name) => name.startsWith(`${basename(path)}${RESCUED}`))
  if (found !== undefined) throw replacedError(path, join(folder, found))
}

function replacedError(path: string, found: string): StartError {
  const isWhole = !/\.(partial|failed)$/.test(found)
  const toSave = isWhole
    ? `To continue with the saved data, run \`perdure restore ${found}\`. To continue without it,`
    : 'The data could not be saved: move the original database file back, or restore a backup. Then'
  return new StartError('storage-replaced', {
    message:
      `The database file ${path} was removed or replaced while a server was running. ${isWhole ? `The server saved its data as ${found}.` : ''}`.trimEnd(),
    hint: `${toSave} move ${found} to another folder.`,
  })
}
