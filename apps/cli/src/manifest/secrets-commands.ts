import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

export const secretsCommands: CommandGroup = {
  summary: 'generate and check secrets',
  commands: [
    {
      path: 'secrets generate',
      summary: 'write a 32-byte random secret to a new file that only its owner can read',
      target: 'none',
      arguments: [{ name: 'kind', note: 'pepper or encryption-key' }],
      flags: [
        {
          name: 'out',
          type: 'string',
          value: 'ref',
          note: 'write to this secret reference (default: file:./secrets/<kind>)',
        },
        { name: 'print', type: 'boolean', note: 'print the secret instead of writing it' },
      ],
      examples: [
        'perdure secrets generate pepper --out file:./secrets/pepper',
        'perdure secrets generate encryption-key --print',
      ],
      exits: ['conflict'],
      output: 'document',
      schema: v.union([
        v.object({ kind: v.string(), ref: v.string(), path: v.string(), bytes: v.number() }),
        v.object({ kind: v.string(), secret: v.string(), bytes: v.number() }),
      ]),
      load: async () => (await import('../commands/secrets-command.ts')).secretsGenerateCommand,
    },
    {
      path: 'secrets check',
      summary: 'check that every secret reference of the configuration resolves, without showing values',
      target: 'storage',
      examples: ['perdure secrets check', 'perdure secrets check --json'],
      exits: ['problem'],
      output: 'document',
      schema: v.object({
        items: v.array(
          v.object({
            field: v.string(),
            ref: v.string(),
            resolved: v.boolean(),
            bytes: v.optional(v.number()),
            problem: v.optional(v.string()),
          }),
        ),
        nextCursor: v.null(),
      }),
      load: async () => (await import('../commands/secrets-command.ts')).secretsCheckCommand,
    },
  ],
}
