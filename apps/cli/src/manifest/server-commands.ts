import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { Listening, SERVING_FLAGS } from './serving-rows.ts'

export const serverCommands: CommandGroup = {
  commands: [
    {
      path: 'server',
      summary: 'start the server; on SIGTERM it drains and stops',
      target: 'storage',
      flags: [
        ...SERVING_FLAGS,
        { name: 'check', type: 'boolean', note: 'check the configuration and its secrets, then exit' },
      ],
      examples: ['perdure server --config perdure.config.mjs', 'perdure server --port 0 --json'],
      exits: ['unreachable', 'storageFault', 'takenOver'],
      output: 'stream',
      schema: v.union([Listening, v.object({ ok: v.literal(true) })]),
      isService: true,
      load: async () => (await import('../commands/server-command.ts')).serverCommand,
    },
  ],
}
