import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

export const versionCommands: CommandGroup = {
  commands: [
    {
      path: 'version',
      summary: 'show the version',
      target: 'none',
      examples: ['perdure version', 'perdure version --json'],
      output: 'document',
      schema: v.object({ version: v.string(), node: v.string(), platform: v.string(), arch: v.string() }),
      load: async () => (await import('../commands/version-command.ts')).versionCommand,
    },
  ],
}
