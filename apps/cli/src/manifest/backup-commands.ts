import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { AuditState, BACKUP, Problems } from './storage-rows.ts'

export const backupCommands: CommandGroup = {
  summary: 'back up the database, even while the server runs',
  commands: [
    {
      path: 'backup create',
      summary: 'back up the database and its audit log with a manifest; encrypted data stays encrypted',
      target: 'storage',
      flags: [
        {
          name: 'out',
          type: 'string',
          value: 'file',
          note: 'write the backup to this file (default: in the folder backups beside the database)',
        },
        { name: 'verify', type: 'boolean', note: 'verify the backup after writing it' },
      ],
      examples: ['perdure backup create', 'perdure backup create --out /mnt/perdure.db --verify --json'],
      exits: ['problem', 'storageFault'],
      output: 'document',
      schema: v.looseObject({
        path: v.string(),
        bytes: v.number(),
        sha256: v.string(),
        problems: v.optional(Problems),
      }),
      load: async () => (await import('../commands/backup-command.ts')).backupCreateCommand,
    },
    {
      path: 'backup verify',
      summary: 'check a backup against its manifest and read it fully; exits 5 if it has problems',
      target: 'storage',
      arguments: [BACKUP],
      examples: ['perdure backup verify /mnt/perdure.db', 'perdure backup verify /mnt/perdure.db --json'],
      exits: ['problem', 'storageFault'],
      output: 'document',
      schema: v.object({ path: v.string(), problems: Problems, manifest: v.optional(v.unknown()), audit: AuditState }),
      load: async () => (await import('../commands/backup-command.ts')).backupVerifyCommand,
    },
  ],
}
