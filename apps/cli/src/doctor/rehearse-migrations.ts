import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ServerConfig } from '@perdure/protocol'
import { filesDirectory, storageEncryption } from '@perdure/server-app/admin'
import { createBackup, migrate, migrationStatus } from '@perdure/sqlite'
import type { LoadedConfig } from '../config/load-config.ts'
import { isAlive } from '../is-alive.ts'
import { type Finding, fail, failFrom, ok, pendingText, warn } from './finding.ts'

interface Rehearsal {
  readonly findings: readonly Finding[]
  /** A configuration whose database has the schema of this release; `undefined` if there is none. */
  readonly migrated: ServerConfig | undefined
  /** Deletes the copy, if there is one. */
  readonly end: () => void
}

/**
 * Applies the pending migrations to a copy of the database file, which is beside it, and says what they are and how long they
 * took. The database itself is only read, also while a server uses it. Makes no copy if that could fill the disk.
 */
export async function rehearseMigrations(config: ServerConfig, loaded: LoadedConfig): Promise<Rehearsal> {
  const { path, files } = config.storage
  const folder = dirname(path)
  let copies: string | undefined
  const end = () => {
    if (copies !== undefined) rmSync(copies, { recursive: true, force: true })
  }
  try {
    removeLeftovers(folder)
    const encryption = await storageEncryption(config, loaded)
    const { applied, pending } = await migrationStatus(path, { encryption })
    if (pending.length === 0) {
      const message = `up to date, ${applied.length} migrations applied; this release changes nothing`
      return { findings: [ok('schema', message)], migrated: config, end }
    }
    const shortage = await spaceShortage(config)
    if (shortage !== undefined) return { findings: [shortage], migrated: undefined, end }
    copies = mkdtempSync(join(folder, `${PREFIX}${process.pid}-`))
    const copy = join(copies, 'data.db')
    const { bytes } = await createBackup(path, { out: copy, encryption })
    const startedMs = performance.now()
    await migrate(copy, { encryption, keepsCopy: false })
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    const text = `${pendingText(pending)}; applied to a copy of ${bytes} bytes in ${seconds} s`
    const directory = filesDirectory({ path, files }, loaded.configDir)
    return {
      findings: [warn('schema', text, 'perdure backup create --verify')],
      migrated: { ...config, storage: { ...config.storage, path: copy, files: { ...files, directory } } },
      end,
    }
  } catch (error) {
    return {
      findings: [failFrom('schema', error, 'repair the database first: perdure storage verify')],
      migrated: undefined,
      end,
    }
  }
}

const PREFIX = 'upgrade-check-'

/** Removes the copies of checks that were killed: they hold the data of the server. Best effort. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(PREFIX) ? /^\d+(?=-)/.exec(name.slice(PREFIX.length))?.[0] : undefined
    if (pid === undefined || isOtherProcess(Number(pid))) continue
    try {
      rmSync(join(folder, name), { recursive: true, force: true })
    } catch {}
  }
}

/** Whether another process with this id is alive. This process has made no copy yet. */
const isOtherProcess = (pid: number): boolean => pid !== process.pid && isAlive(pid)

/** A server may be writing to the same disk. The migrations write about as much again as they copy, at most. */
async function spaceShortage({ storage }: ServerConfig): Promise<Finding | undefined> {
  const { path, minFreeBytes } = storage
  const folder = dirname(path)
  const bytes = [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  const needed = 2 * bytes + minFreeBytes
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free >= needed) return undefined
  return fail(
    'schema',
    `${folder} has ${free} bytes free; to migrate a copy of the database there, the check needs ${needed}: twice the database, and storage.minFreeBytes`,
    'free disk space, or run perdure backup create --out <file on another disk> and check that file with PERDURE_STORAGE_PATH',
  )
}
