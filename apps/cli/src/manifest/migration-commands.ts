import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'

const Migration = v.object({ version: v.number(), name: v.string() })
const Status = v.object({
  path: v.string(),
  applied: v.array(v.object({ ...Migration.entries, appliedAt: v.string() })),
  pending: v.array(Migration),
})

export const migrationCommands: readonly CommandSpec[] = [
  {
    path: 'migrate status',
    summary: 'show applied and pending migrations, without changing anything',
    target: 'storage',
    examples: ['perdure migrate status', 'perdure migrate status --json'],
    exits: ['storageFault'],
    output: 'document',
    schema: Status,
    load: async () => (await import('../commands/migrate-command.ts')).migrateStatusCommand,
  },
  {
    path: 'migrate up',
    summary: 'back up the database and apply pending migrations; the server must be stopped',
    target: 'storage',
    flags: [{ name: 'dry-run', type: 'boolean', note: 'show the pending migrations without applying them' }],
    examples: ['perdure migrate up', 'perdure migrate up --dry-run'],
    exits: ['storageFault'],
    output: 'document',
    schema: Status,
    load: async () => (await import('../commands/migrate-command.ts')).migrateUpCommand,
  },
]
