import { type MigrationStatus, migrate, migrationStatus } from '@berth/sqlite'
import type { CommandContext } from '../command-context.ts'
import type { ConfigFlags } from '../config/load-config.ts'
import { storageFile } from '../config/storage-file.ts'
import { type Terminal, writeDocument } from '../terminal.ts'

export interface MigrateFlags extends ConfigFlags {
  readonly json?: boolean
}

export async function migrateStatusCommand({ terminal }: CommandContext, flags: MigrateFlags): Promise<void> {
  const { path, encryption } = await storageFile(terminal, flags)
  show(terminal, flags, { path, status: await migrationStatus(path, { encryption }) })
}

/** Needs the file for itself: refused while a server holds it. */
export async function migrateUpCommand({ terminal }: CommandContext, flags: MigrateFlags): Promise<void> {
  const { path, encryption } = await storageFile(terminal, flags)
  show(terminal, flags, { path, status: await migrate(path, { encryption }) })
}

function show(terminal: Terminal, { json }: MigrateFlags, found: { path: string; status: MigrationStatus }): void {
  const applied = found.status.applied.map(({ version, name, appliedAt }) => ({
    version,
    name,
    appliedAt: new Date(appliedAt).toISOString(),
  }))
  const { pending } = found.status
  if (json) {
    writeDocument(terminal, { path: found.path, applied, pending })
    return
  }
  const lines = [
    found.path,
    ...applied.map(({ version, name, appliedAt }) => `  applied  ${version}  ${name}  ${appliedAt}`),
    ...pending.map(({ version, name }) => `  pending  ${version}  ${name}`),
    pending.length === 0 ? 'up to date' : `${pending.length} pending; apply with: berth migrate up`,
  ]
  terminal.stdout.write(`${lines.join('\n')}\n`)
}
