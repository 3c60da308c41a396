import { constants, existsSync, statSync } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ServerConfig } from '@perdure/protocol'
import { storageEncryption } from '@perdure/server-app/admin'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, fail, failFrom, ok, pendingText, warn } from './finding.ts'
import { shellWord } from './shell-word.ts'

/** `statfs` types of /proc and /sys on Linux. */
const KERNEL_FILESYSTEMS = new Set([0x9fa0, 0x62656572])

/** Checks that the server can write its database, without creating it. */
export async function checkWritable({ storage: { path } }: ServerConfig): Promise<Finding> {
  if (path === ':memory:')
    return warn('storage', 'storage.path is :memory:: no data survives a restart', 'set storage.path to a file')
  const target = nearestExisting(path)
  try {
    await access(target, constants.W_OK)
    if (KERNEL_FILESYSTEMS.has((await statfs(target)).type)) {
      return fail(
        'storage',
        `${target} is a kernel filesystem and cannot hold a database`,
        'set storage.path to a file on a disk, such as ./.graphorin/data.db',
      )
    }
    return ok('storage', target === path ? `${path} is writable` : `${path} can be created`)
  } catch {
    return fail('storage', `${target} is not writable`, `sudo chown "$(id -u)" ${shellWord(target)}`)
  }
}

/** Checks for pending migrations, without applying them. */
export async function checkSchema(config: ServerConfig, loaded: LoadedConfig): Promise<Finding> {
  const { path } = config.storage
  if (!existsSync(path)) return ok('schema', 'no database yet: the first start creates it')
  try {
    const { migrationStatus } = await import('@perdure/sqlite')
    const encryption = await storageEncryption(config, loaded)
    const { applied, pending } = await migrationStatus(path, { encryption })
    if (pending.length === 0) return ok('schema', `up to date, ${applied.length} migrations applied`)
    const repair = async () => {
      const { migrate } = await import('@perdure/sqlite')
      const { applied } = await migrate(path, { encryption })
      return `applied the pending migrations, up to ${applied.at(-1)?.version}; a copy of the old database is next to ${path}`
    }
    const finding = warn('schema', `${pendingText(pending)}; applied by the next start`, 'perdure migrate up')
    return { ...finding, repair }
  } catch (error) {
    return failFrom('schema', error, 'restore a backup, or move the file away to start with an empty database')
  }
}

export function checkWal({ storage: { path }, health: { walWarnThresholdBytes } }: ServerConfig): Finding {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= walWarnThresholdBytes) return ok('wal', `write-ahead log: ${bytes} bytes`)
  const message = `write-ahead log: ${bytes} bytes, over health.walWarnThresholdBytes (${walWarnThresholdBytes})`
  return warn('wal', message, 'close other programs that read the database, then restart the server')
}

interface SpaceConfig {
  readonly storage: Pick<ServerConfig['storage'], 'path' | 'minFreeBytes'>
}

/** Checks the free disk space. */
export async function checkSpace({ storage: { path, minFreeBytes } }: SpaceConfig): Promise<Finding> {
  const folder = path === ':memory:' ? '.' : nearestExisting(dirname(path))
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const text = `${mebibytes(free)} MiB free`
  if (free >= minFreeBytes) return ok('space', text)
  const message = `${text}, below storage.minFreeBytes (${mebibytes(minFreeBytes)} MiB): the server will report degraded`
  return warn('space', message, `df -h ${shellWord(folder)}`)
}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576)

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return existsSync(path) || parent === path ? path : nearestExisting(parent)
}
