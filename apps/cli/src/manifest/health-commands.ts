import { Health, Liveness, Readiness } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { ASKING } from './server-rows.ts'

export const healthCommands: CommandGroup = {
  commands: [
    {
      path: 'health',
      summary: 'show the health of a running server',
      target: 'server',
      flags: [
        {
          name: 'probe',
          type: 'string',
          note: 'check only liveness, or readiness for new runs',
          choices: ['live', 'ready'],
        },
      ],
      examples: ['perdure health', 'perdure health --probe ready --quiet'],
      exits: [...ASKING, 'problem'],
      output: 'document',
      schema: v.union([Health, Liveness, Readiness]),
      load: async () => (await import('../commands/health-command.ts')).healthCommand,
    },
  ],
}
