import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'

const COPY: ArgumentSpec = { name: 'file', note: 'the copy' }
const Audit = v.optional(v.unknown())
const RESTORED = { path: v.string(), kept: v.nullable(v.string()) }
const Problems = v.array(v.string())

export const storageCommands: readonly CommandSpec[] = [
  {
    path: 'backup create',
    summary: 'copy the database as it is now, with its audit log and a manifest; what is encrypted stays so',
    target: 'storage',
    flags: [
      {
        name: 'out',
        type: 'string',
        value: 'file',
        note: 'where the copy goes; the folder backups beside the database when missing',
      },
      { name: 'verify', type: 'boolean', note: 'read the whole copy afterwards' },
    ],
    examples: ['perdure backup create', 'perdure backup create --out /mnt/perdure.db --verify --json'],
    exits: ['problem', 'storageFault'],
    output: 'document',
    schema: v.looseObject({ path: v.string(), bytes: v.number(), sha256: v.string(), problems: v.optional(Problems) }),
    load: async () => (await import('../commands/backup-command.ts')).backupCreateCommand,
  },
  {
    path: 'backup verify',
    summary: 'compare a copy with its manifest and read all of it; exit code 5 when something is wrong',
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
    summary: 'put a copy in the place of the database, which is kept; the server must be stopped',
    target: 'storage',
    arguments: [COPY],
    examples: ['perdure restore /mnt/perdure.db', 'perdure restore /mnt/perdure.db --json'],
    exits: ['storageFault'],
    output: 'document',
    schema: v.object({ ...RESTORED, audit: v.optional(v.object(RESTORED)) }),
    load: async () => (await import('../commands/restore-command.ts')).restoreCommand,
  },
  {
    path: 'storage verify',
    summary: 'read the whole database: pages, references, audit chain; exit code 5 when something is wrong',
    target: 'storage',
    examples: ['perdure storage verify', 'perdure storage verify --json'],
    exits: ['problem', 'storageFault'],
    output: 'document',
    schema: v.object({ path: v.string(), ok: v.boolean(), problems: Problems, audit: Audit }),
    load: async () => (await import('../commands/storage-command.ts')).storageVerifyCommand,
  },
  {
    path: 'storage vacuum',
    summary: 'give the space of deleted rows back to the disk; the server must be stopped',
    target: 'storage',
    examples: ['perdure storage vacuum', 'perdure storage vacuum --json'],
    exits: ['storageFault'],
    output: 'document',
    schema: v.looseObject({ path: v.string(), bytesBefore: v.number(), bytesAfter: v.number() }),
    load: async () => (await import('../commands/storage-command.ts')).storageVacuumCommand,
  },
]
