import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '@perdure/ports'
import { unlessGone } from './private-file.ts'

/**
 * Checks that each file of the database has one name. SQLite finds the write-ahead log, its index and the lock by the
 * name of the database, so two servers that use two names of one file overwrite each other's commits.
 *
 * @throws StartError `storage-shared` for a file that has hard links or is a mount point, and for a log, index or lock
 *   that is a symbolic link; `config-invalid` for one that is not a plain file
 */
export function requireSingleName(path: string): void {
  for (const suffix of COMPANIONS) requirePlainFile(`${path}${suffix}`)
  for (const suffix of ['', ...COMPANIONS]) {
    const stat = statSync(`${path}${suffix}`, { throwIfNoEntry: false })
    if (stat === undefined || !stat.isFile()) continue
    const file = unlessGone(() => realpathSync(`${path}${suffix}`))
    if (file === undefined) continue
    if (stat.nlink > 1) throw linkedError(file, stat.nlink)
    if (isMountPoint(file, stat.dev)) throw mountedError(file)
  }
}

const COMPANIONS = ['-wal', '-shm', '.lock']

/** SQLite's locks have no effect on a device, and with a link, several databases would use the same file. */
function requirePlainFile(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined || stat.isFile()) return
  if (stat.isSymbolicLink()) throw symbolicError(file)
  throw new StartError('config-invalid', {
    message: `${file} is not a plain file.`,
    hint: 'Remove it while no server runs, then start the server. The server creates the file again.',
  })
}

function isMountPoint(file: string, device: number): boolean {
  if (statSync(dirname(file)).dev !== device) return true
  return mountPoints().includes(file)
}

/** The kernel's list. Empty on other systems, where a mounted file is found only on another device than its folder. */
function mountPoints(): readonly string[] {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return lines.map((line) => unescapeOctal(line.split(' ')[4] ?? ''))
  } catch {
    return []
  }
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
const unescapeOctal = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))

const symbolicError = (file: string): StartError =>
  new StartError('storage-shared', {
    message: `The file ${file} is a symbolic link.`,
    hint: `Stop every server that uses the database. If the link leads to a write-ahead log, move that log here; otherwise remove the link. Then start the server.`,
  })

const linkedError = (file: string, names: number): StartError =>
  new StartError('storage-shared', {
    message: `The file ${file} has ${names} names (hard links).`,
    hint: `List its names with \`find / -xdev -samefile ${file}\` and remove the others. Two servers must not use one file under two names.`,
  })

const mountedError = (file: string): StartError =>
  new StartError('storage-shared', {
    message: `The file ${file} is mounted by itself, without its folder.`,
    hint: `Mount the folder ${dirname(file)} instead: the write-ahead log and the lock belong beside the file.`,
  })
