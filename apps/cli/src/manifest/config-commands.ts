import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'

const Anything = v.record(v.string(), v.unknown())

export const configCommands: readonly CommandSpec[] = [
  {
    path: 'config print',
    summary: 'show every configuration value in effect, with references in place of secrets',
    target: 'storage',
    flags: [{ name: 'origin', type: 'boolean', note: 'show where each value comes from' }],
    examples: ['perdure config print --origin', 'perdure config print --format ndjson'],
    output: 'document',
    schema: v.object({
      items: v.array(v.object({ path: v.string(), value: v.optional(v.unknown()), origin: v.string() })),
      nextCursor: v.null(),
    }),
    load: async () => (await import('../commands/config-command.ts')).configPrintCommand,
  },
  {
    path: 'config check',
    summary: 'run the same checks as a server start: file, environment, flags, registrations, secrets',
    target: 'storage',
    examples: ['perdure config check', 'perdure config check --config perdure.config.mjs --json'],
    output: 'document',
    schema: v.object({ ok: v.literal(true), path: v.nullable(v.string()), warnings: v.array(v.string()) }),
    load: async () => (await import('../commands/config-command.ts')).configCheckCommand,
  },
  {
    path: 'config schema',
    summary: 'print the JSON Schema of the configuration file',
    target: 'none',
    examples: ['perdure config schema > perdure.schema.json', 'perdure config schema --json=properties'],
    output: 'document',
    schema: Anything,
    load: async () => (await import('../commands/config-command.ts')).configSchemaCommand,
  },
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
]
