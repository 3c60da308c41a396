import { Hook, HookDelivery, HookDeliveryStatus, HookDeliverySummary, listOf } from '@perdure/protocol'
import type { ArgumentSpec, CommandGroup } from './command-spec.ts'
import { CHANGES, CHANGING, PAGE_FLAGS, READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'hook', note: 'hook id from webhooks.in of the configuration' }

const DELIVERY: ArgumentSpec = { name: 'delivery', note: 'id of a received delivery' }

export const hooksCommands: CommandGroup = {
  summary: 'inspect and replay deliveries from other services',
  commands: [
    {
      path: 'hooks list',
      summary: 'list hooks: addresses at which the server receives signed requests',
      ...READS,
      flags: PAGE_FLAGS,
      examples: ['perdure hooks list', 'perdure hooks list --json=id,path'],
      schema: listOf(Hook),
      load: async () => (await import('../commands/hooks-command.ts')).hooksListCommand,
    },
    {
      path: 'hooks deliveries',
      summary: 'list the deliveries that a hook has received, newest first',
      ...READS,
      arguments: [ID],
      flags: [
        {
          name: 'status',
          type: 'string',
          value: 'status',
          note: 'show only deliveries with this status',
          choices: HookDeliveryStatus.options,
        },
        ...PAGE_FLAGS,
      ],
      examples: ['perdure hooks deliveries github', 'perdure hooks deliveries github --status dead --json=id,reason'],
      schema: listOf(HookDeliverySummary),
      load: async () => (await import('../commands/hooks-command.ts')).hooksDeliveriesCommand,
    },
    {
      path: 'hooks show',
      summary: 'show a received delivery with its headers and body',
      ...READS,
      arguments: [ID, DELIVERY],
      examples: ['perdure hooks show github hkd_01KX3F', 'perdure hooks show github hkd_01KX3F --json=body'],
      schema: HookDelivery,
      load: async () => (await import('../commands/hooks-command.ts')).hooksShowCommand,
    },
    {
      path: 'hooks replay',
      summary: 'handle a received delivery again, as if it had just arrived',
      ...CHANGES,
      exits: [...CHANGING, 'problem'],
      arguments: [ID, DELIVERY],
      examples: ['perdure hooks replay github hkd_01KX3F', 'perdure hooks replay github hkd_01KX3F --json=status'],
      schema: HookDelivery,
      load: async () => (await import('../commands/hooks-command.ts')).hooksReplayCommand,
    },
    {
      path: 'hooks test',
      summary: 'send a signed sample to a hook; it starts the same run or event as a real delivery',
      ...CHANGES,
      exits: [...CHANGING, 'problem'],
      arguments: [ID],
      flags: [
        { name: 'body', type: 'string', value: 'json', note: 'body of the sample, as JSON' },
        { name: 'header', type: 'pairs', value: 'name=value', note: 'further header of the sample; can be repeated' },
      ],
      examples: [
        'perdure hooks test github',
        'perdure hooks test github --header x-github-event=issues --body \'{"action":"opened"}\'',
      ],
      schema: HookDelivery,
      load: async () => (await import('../commands/hooks-command.ts')).hooksTestCommand,
    },
  ],
}
