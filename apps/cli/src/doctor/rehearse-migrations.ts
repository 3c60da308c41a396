import { mkdtempSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ServerConfig } from '@perdure/protocol'
import { filesDirectory, storageEncryption } from '@perdure/server-app/admin'
import { createBackup, migrate, migrationStatus } from '@perdure/sqlite'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, failFrom, ok, warn } from './finding.ts'

interface Rehearsal {
  readonly findings: readonly Finding[]
  /** A configuration whose database has the schema of this release; `undefined` if there is none. */
  readonly migrated: ServerConfig | undefined
  /** Deletes the copy, if there is one. */
  readonly end: () => void
}

/**
 * Applies the pending migrations to a copy of the database file, which is beside it, and says what they are and how long they
 * took. The database itself is only read, also while a server uses it.
 */
export async function rehearseMigrations(config: ServerConfig, loaded: LoadedConfig): Promise<Rehearsal> {
  const { path, files } = config.storage
  const folder = dirname(path)
  let copies: string | undefined
  const end = () => {
    if (copies !== undefined) rmSync(copies, { recursive: true, force: true })
  }
  try {
    const encryption = await storageEncryption(config, loaded)
    const { applied, pending } = await migrationStatus(path, { encryption })
    if (pending.length === 0) {
      const message = `up to date, ${applied.length} migrations applied; this release changes nothing`
      return { findings: [ok('schema', message)], migrated: config, end }
    }
    copies = mkdtempSync(join(folder, 'upgrade-check-'))
    const copy = join(copies, 'data.db')
    const { bytes } = await createBackup(path, { out: copy, encryption })
    const startedMs = performance.now()
    await migrate(copy, { encryption })
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    const names = pending.map(({ version, name }) => `${version} ${name}`).join(', ')
    const text = `${pending.length} migrations pending (${names}); on a copy of ${bytes} bytes they took ${seconds} s`
    const directory = filesDirectory({ path, files }, loaded.configDir)
    return {
      findings: [warn('schema', text, 'perdure backup create --verify')],
      migrated: { ...config, storage: { ...config.storage, path: copy, files: { ...files, directory } } },
      end,
    }
  } catch (error) {
    const { bavail, bsize } = await statfs(folder)
    const otherwise = `repair the database first: perdure storage verify; ${bavail * bsize} bytes are free in ${folder} for a copy`
    return { findings: [failFrom('schema', error, otherwise)], migrated: undefined, end }
  }
}
