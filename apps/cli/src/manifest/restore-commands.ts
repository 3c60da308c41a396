import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { BACKUP } from './storage-rows.ts'

const RESTORED = { path: v.string(), kept: v.nullable(v.string()) }

export const restoreCommands: CommandGroup = {
  commands: [
    {
      path: 'restore',
      summary:
        'replace the database with a backup, whose schema it keeps, and keep the old file; the server must be stopped',
      target: 'storage',
      arguments: [BACKUP],
      flags: [
        {
          name: 'accept-audit-head',
          type: 'string',
          value: 'size:hash',
          note: 'restore a backup whose audit log ends at this older entry, and record that the newer entries were discarded',
        },
      ],
      examples: ['perdure restore /mnt/perdure.db', 'perdure restore /mnt/perdure.db --json'],
      exits: ['storageFault'],
      output: 'document',
      schema: v.object({
        ...RESTORED,
        audit: v.optional(v.object(RESTORED)),
        checkpoints: v.optional(v.object(RESTORED)),
        schema: v.object({ version: v.number(), newest: v.number() }),
      }),
      load: async () => (await import('../commands/restore-command.ts')).restoreCommand,
    },
  ],
}
