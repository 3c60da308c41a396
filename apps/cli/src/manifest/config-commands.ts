import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

const Anything = v.record(v.string(), v.unknown())

export const configCommands: CommandGroup = {
  summary: 'show and check the configuration',
  commands: [
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
  ],
}
