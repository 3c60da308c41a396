import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

const Migration = v.object({ version: v.number(), name: v.string() })

const Status = v.object({
  path: v.string(),
  applied: v.array(v.object({ ...Migration.entries, appliedAt: v.string() })),
  pending: v.array(Migration),
})

const Upgraded = v.object({
  ...Status.entries,
  migrated: v.optional(v.object({ from: v.number(), to: v.number(), copy: v.string() })),
})

const Database = v.object({
  path: v.string(),
  schema: v.string(),
  tables: v.optional(v.array(v.object({ name: v.string(), rows: v.number(), sha256: v.string() }))),
  auditEntries: v.optional(v.number()),
})

export const migrateCommands: CommandGroup = {
  summary: 'show and apply storage migrations',
  commands: [
    {
      path: 'migrate status',
      summary: 'show applied and pending migrations, without changing anything',
      target: 'storage',
      examples: ['perdure migrate status', 'perdure migrate status --json'],
      exits: ['unreachable', 'storageFault'],
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
      exits: ['unreachable', 'storageFault'],
      output: 'document',
      schema: Upgraded,
      load: async () => (await import('../commands/migrate-command.ts')).migrateUpCommand,
    },
    {
      path: 'migrate sqlite-to-postgres',
      summary: 'move a database file to an empty schema of a PostgreSQL database; the server must be stopped',
      target: 'storage',
      flags: [
        { name: 'from', type: 'string', value: 'file', required: true, note: 'move this database file' },
        {
          name: 'to-url-ref',
          type: 'string',
          value: 'reference',
          required: true,
          note: 'secret reference to the URL of the PostgreSQL database, such as env:DATABASE_URL',
        },
        { name: 'schema', type: 'string', value: 'name', default: 'perdure', note: 'fill this schema' },
        {
          name: 'audit-from',
          type: 'string',
          value: 'file',
          note: 'also move this encrypted audit log, to the schema <name>_audit; its passphrase is audit.passphraseRef',
        },
        {
          name: 'ca-ref',
          type: 'string',
          value: 'reference',
          note: 'secret reference to the certificate of the authority that signed the certificate of the server',
        },
      ],
      examples: [
        'perdure migrate sqlite-to-postgres --from ./data.db --to-url-ref env:DATABASE_URL',
        'perdure migrate sqlite-to-postgres --from ./data.db --audit-from ./audit.db --to-url-ref file:./secrets/url --json',
      ],
      exits: ['unreachable', 'storageFault'],
      output: 'document',
      schema: v.object({ moved: v.array(Database) }),
      load: async () => (await import('../commands/move-to-postgres-command.ts')).moveToPostgresCommand,
    },
  ],
}
