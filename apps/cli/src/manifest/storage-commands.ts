import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'

const COPY: ArgumentSpec = { name: 'file', note: 'path of the backup' }
const Audit = v.optional(v.unknown())
const RESTORED = { path: v.string(), kept: v.nullable(v.string()) }
const Problems = v.array(v.string())

export const storageCommands: readonly CommandSpec[] = [
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
    schema: v.looseObject({ path: v.string(), bytes: v.number(), sha256: v.string(), problems: v.optional(Problems) }),
    load: async () => (await import('../commands/backup-command.ts')).backupCreateCommand,
  },
  {
    path: 'backup verify',
    summary: 'check a backup against its manifest and read it fully; exits 5 if it has problems',
    target: 'storage',
    arguments: [COPY],
    examples: ['perdure backup verify /mnt/perdure.db', 'perdure backup verify /mnt/perdure.db --json'],
    exits: ['problem', 'storageFault'],
    output: 'document',
    schema: v.object({ path: v.string(), problems: Problems, manifest: v.optional(v.unknown()), audit: Audit }),
    load: async () => (await import('../commands/backup-command.ts')).backupVerifyCommand,
  },
  {
    path: 'restore',
    summary:
      'replace the database with a backup, whose schema it keeps, and keep the old file; the server must be stopped',
    target: 'storage',
    arguments: [COPY],
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
  {
    path: 'storage verify',
    summary: 'check the pages, references and audit chain of the database; exits 5 if it has problems',
    target: 'storage',
    examples: ['perdure storage verify', 'perdure storage verify --json'],
    exits: ['problem', 'storageFault'],
    output: 'document',
    schema: v.object({ path: v.string(), ok: v.boolean(), problems: Problems, audit: Audit }),
    load: async () => (await import('../commands/storage-command.ts')).storageVerifyCommand,
  },
  {
    path: 'storage vacuum',
    summary: 'return the space of deleted rows to the disk; the server must be stopped',
    target: 'storage',
    examples: ['perdure storage vacuum', 'perdure storage vacuum --json'],
    exits: ['storageFault'],
    output: 'document',
    schema: v.looseObject({ path: v.string(), bytesBefore: v.number(), bytesAfter: v.number() }),
    load: async () => (await import('../commands/storage-command.ts')).storageVacuumCommand,
  },
]
