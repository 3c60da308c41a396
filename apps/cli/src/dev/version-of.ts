import { statSync } from 'node:fs'

/**
 * A fingerprint that changes with the file. Take it before reading the file, so that a later change is always detected.
 */
export function versionOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? 'absent' : `${stats.mtimeMs} ${stats.size}`
}
