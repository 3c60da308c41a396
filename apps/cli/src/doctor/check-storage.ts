import { constants, existsSync, statSync } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ServerConfig } from '@perdure/protocol'
import { storageEncryption } from '@perdure/server-app'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, fail, failFrom, ok, warn } from './finding.ts'
import { shellWord } from './shell-word.ts'

/** The types of /proc and /sys on Linux. */
const KERNEL_FILESYSTEMS = new Set([0x9fa0, 0x62656572])

/** Whether the server could write its database; creates nothing. */
export async function checkWritable({ storage: { path } }: ServerConfig): Promise<Finding> {
  if (path === ':memory:')
    return warn('storage', 'storage.path is :memory:, nothing survives a restart', 'give storage.path a file')
  const target = nearestExisting(path)
  try {
    await access(target, constants.W_OK)
    if (KERNEL_FILESYSTEMS.has((await statfs(target)).type)) {
      return fail(
        'storage',
        `${target} belongs to the kernel and holds no files of others`,
        'PERDURE_STORAGE_PATH=./.graphorin/data.db perdure server, or correct storage.path',
      )
    }
    return ok('storage', target === path ? `${path} is writable` : `${path} can be created`)
  } catch {
    return fail('storage', `${target} is not writable`, `sudo chown "$(id -u)" ${shellWord(target)}`)
  }
}

/** Whether the schema fits this release. Only reads. */
export async function checkSchema(config: ServerConfig, loaded: LoadedConfig): Promise<Finding> {
  const { path } = config.storage
  if (!existsSync(path)) return ok('schema', 'no database yet, the first start makes it')
  try {
    const { migrationStatus } = await import('@perdure/sqlite')
    const encryption = await storageEncryption(config, loaded)
    const { applied, pending } = await migrationStatus(path, { encryption })
    if (pending.length === 0) return ok('schema', `up to date, ${applied.length} migrations applied`)
    const repair = async () => {
      const { migrate } = await import('@perdure/sqlite')
      const { applied } = await migrate(path, { encryption })
      return `applied ${pending.length} migrations, up to ${applied.at(-1)?.version}; a copy of before is beside ${path}`
    }
    const finding = warn(
      'schema',
      `${pending.length} migrations pending; the next start applies them`,
      'perdure migrate up',
    )
    return { ...finding, repair }
  } catch (error) {
    return failFrom('schema', error, 'restore a backup, or move the file away to start anew')
  }
}

export function checkWal({ storage: { path }, health: { walWarnThresholdBytes } }: ServerConfig): Finding {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= walWarnThresholdBytes) return ok('wal', `write-ahead log of ${bytes} bytes`)
  const message = `write-ahead log of ${bytes} bytes, over health.walWarnThresholdBytes (${walWarnThresholdBytes})`
  return warn('wal', message, 'close long-running readers of the database, then restart the server')
}

interface SpaceConfig {
  readonly storage: Pick<ServerConfig['storage'], 'path' | 'minFreeBytes'>
}

/** Whether there is room for what comes. */
export async function checkSpace({ storage: { path, minFreeBytes } }: SpaceConfig): Promise<Finding> {
  const folder = path === ':memory:' ? '.' : nearestExisting(dirname(path))
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const text = `${mebibytes(free)} MiB free`
  if (free >= minFreeBytes) return ok('space', text)
  const message = `${text}, below storage.minFreeBytes (${mebibytes(minFreeBytes)} MiB): the server would be degraded`
  return warn('space', message, `df -h ${shellWord(folder)}`)
}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576)

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return existsSync(path) || parent === path ? path : nearestExisting(parent)
}
