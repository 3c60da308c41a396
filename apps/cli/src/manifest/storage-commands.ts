import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { AuditState, Problems } from './storage-rows.ts'

export const storageCommands: CommandGroup = {
  summary: 'verify and compact the database file',
  commands: [
    {
      path: 'storage verify',
      summary: 'check the pages, references and audit chain of the database; exits 5 if it has problems',
      target: 'storage',
      examples: ['perdure storage verify', 'perdure storage verify --json'],
      exits: ['problem', 'storageFault'],
      output: 'document',
      schema: v.object({ path: v.string(), ok: v.boolean(), problems: Problems, audit: AuditState }),
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
  ],
}
