import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

export const consoleCommands: CommandGroup = {
  commands: [
    {
      path: 'console',
      summary: 'print a link that opens the web console of a running server and signs in once',
      target: 'server',
      flags: [{ name: 'open', type: 'boolean', note: 'open the link in a browser' }],
      examples: ['perdure console --open', 'perdure console --url https://agents.example.com/v1 --json=url'],
      exits: ['unreachable', 'denied'],
      output: 'document',
      schema: v.object({ url: v.string(), expiresAt: v.optional(v.string()) }),
      load: async () => (await import('../commands/console-command.ts')).consoleCommand,
    },
  ],
}
