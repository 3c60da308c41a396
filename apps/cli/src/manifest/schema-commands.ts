import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

export const schemaCommands: CommandGroup = {
  commands: [
    {
      path: 'schema',
      summary: 'print the JSON Schema of the --json output of a command',
      target: 'none',
      arguments: [{ name: 'command', note: 'words of the command, such as runs list', variadic: true }],
      examples: ['perdure schema runs list', 'perdure schema doctor > doctor.schema.json'],
      output: 'document',
      schema: v.record(v.string(), v.unknown()),
      load: async () => (await import('../commands/schema-command.ts')).schemaCommand,
    },
  ],
}
