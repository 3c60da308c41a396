import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** A file that no longer is, under its name, the file that was opened. */
export interface LostFile {
  readonly file: string
  readonly change: 'missing' | 'replaced'
}

/** The files of an open database, as they were when this process opened them. */
export interface HeldFiles {
  /** Files that were removed, moved or replaced since. A file that cannot be checked counts as unchanged. */
  lost(): readonly LostFile[]
  /** Whether the folder now is on another disk: its disk was unmounted, or another disk was mounted over it. */
  isDiskGone(): boolean
  /** Where the content of the database file is now. */
  whereabouts(): Whereabouts
}

export interface Whereabouts {
  /** A name of the file; `undefined` if it has none or the system does not report it. */
  readonly name?: string | undefined
  /** A path under which the content is readable until this process ends. */
  readonly descriptor?: string | undefined
}

/** Remembers the files that exist now. Call this once the database is open. */
export function holdFiles(path: string, suffixes: readonly string[]): HeldFiles {
  const held = new Map<string, string>()
  for (const file of suffixes.map((suffix) => `${path}${suffix}`)) {
    const identity = identityOf(file)
    if (typeof identity === 'string') held.set(file, identity)
  }
  const folder = deviceOf(dirname(path))
  return {
    lost: () => [...held].flatMap(([file, identity]) => changeOf(file, identity)),
    isDiskGone: () => (deviceOf(dirname(path)) ?? folder) !== folder,
    whereabouts: () => findOpenFile(held.get(path)),
  }
}

function changeOf(file: string, held: string): readonly LostFile[] {
  const found = identityOf(file)
  if (found === held || found === UNKNOWN) return []
  return [{ file, change: found === undefined ? 'missing' : 'replaced' }]
}

/** The file could not be read, for example because its folder is not readable. */
const UNKNOWN = Symbol('unknown')

function identityOf(file: string): string | undefined | typeof UNKNOWN {
  try {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat && `${stat.dev}:${stat.ino}`
  } catch {
    return UNKNOWN
  }
}

function deviceOf(folder: string): number | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.dev
  } catch {
    return undefined
  }
}

const DESCRIPTORS = '/proc/self/fd'

/** Reads the links of the kernel to the open files; opening the file itself would release the locks of SQLite. */
function findOpenFile(identity: string | undefined): Whereabouts {
  for (const descriptor of listOf(DESCRIPTORS)) {
    const link = `${DESCRIPTORS}/${descriptor}`
    if (identity === undefined || identityOf(link) !== identity) continue
    const name = readlinkSync(link)
    const hasName = identityOf(name) === identity
    return { descriptor: `/proc/${process.pid}/fd/${descriptor}`, name: hasName ? name : undefined }
  }
  return {}
}

function listOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** For messages that clients see, which must not reveal paths. */
export const describeLost = (lost: readonly LostFile[], nameOf: (file: string) => string = basename): string =>
  lost.map(({ file, change }) => `${nameOf(file)} ${change === 'missing' ? 'is missing' : 'was replaced'}`).join(', ')
