import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

export const helpCommands: CommandGroup = {
  commands: [
    {
      path: 'help',
      summary: 'show help for a command or a topic: exit-codes, environment, formatting, config, errors/<identifier>',
      target: 'none',
      arguments: [{ name: 'words', note: 'words of a command, or a topic', optional: true, variadic: true }],
      examples: ['perdure help exit-codes', 'perdure help errors/pepper-missing'],
      output: 'document',
      schema: v.object({ help: v.string() }),
      load: async () => (await import('../commands/help-command.ts')).helpCommand,
    },
  ],
}
