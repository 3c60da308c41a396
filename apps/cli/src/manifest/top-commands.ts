import { Health, ListedRun } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { READS } from './server-rows.ts'

export const topCommands: CommandGroup = {
  commands: [
    {
      path: 'top',
      summary: 'show health and the newest runs; on a terminal, refresh every two seconds',
      ...READS,
      flags: [
        { name: 'interval', type: 'duration', value: 'duration', note: 'refresh this often', default: '2s' },
        { name: 'once', type: 'boolean', note: 'print once and exit; default without a terminal and with --json' },
      ],
      examples: ['perdure top', 'perdure top --once --json'],
      schema: v.object({ health: Health, runs: v.array(ListedRun) }),
      load: async () => (await import('../commands/top-command.ts')).topCommand,
    },
  ],
}
