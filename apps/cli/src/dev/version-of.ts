import { statSync } from 'node:fs'

/** Differs after each change of a file; taken before it is read, it is never newer than what was read. */
export function versionOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? 'absent' : `${stats.mtimeMs} ${stats.size}`
}
