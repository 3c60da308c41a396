import { Fire, Trigger } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandGroup } from './command-spec.ts'
import { answers, lists } from './operation-rows.ts'
import { READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'trigger', note: 'trigger id' }

export const triggersCommands: CommandGroup = {
  summary: 'inspect, fire, enable and disable triggers',
  commands: [
    lists('triggers.list', {
      path: 'triggers list',
      summary: 'list triggers with their next fire and catch-up policy',
      examples: ['perdure triggers list', 'perdure triggers list --json=id,nextFireAt'],
      columns: async () => (await import('../commands/triggers-command.ts')).TRIGGER_COLUMNS,
    }),
    {
      path: 'triggers show',
      summary: 'show a trigger and its latest fires',
      ...READS,
      arguments: [ID],
      examples: ['perdure triggers show digest', 'perdure triggers show digest --json=fires'],
      schema: v.object({ trigger: Trigger, fires: v.array(Fire) }),
      load: async () => (await import('../commands/triggers-command.ts')).triggersShowCommand,
    },
    answers('triggers.fire', {
      path: 'triggers fire',
      summary: 'fire a trigger now, even if it is disabled',
      arguments: [ID],
      examples: ['perdure triggers fire digest', 'perdure triggers fire digest --json=runId'],
      text: ({ runId }, { trigger }: { readonly trigger: string }) => `fired ${trigger}: ${runId}\n`,
    }),
    answers('triggers.enable', {
      path: 'triggers enable',
      summary: 'enable a trigger',
      arguments: [ID],
      examples: ['perdure triggers enable digest', 'perdure triggers enable digest --json=nextFireAt'],
      text: ({ id, nextFireAt }) => `enabled ${id}; next fire ${nextFireAt ?? '-'}\n`,
    }),
    answers('triggers.disable', {
      path: 'triggers disable',
      summary: 'disable a trigger; it can still be fired by hand',
      arguments: [ID],
      examples: ['perdure triggers disable digest', 'perdure triggers disable digest --json=status'],
      text: ({ id }) => `disabled ${id}\n`,
    }),
    answers('triggers.prune', {
      path: 'triggers prune',
      summary: 'delete disabled, expired and orphaned triggers',
      examples: ['perdure triggers prune', 'perdure triggers prune --json'],
      text: (pruned) => `${JSON.stringify(pruned)}\n`,
    }),
    {
      path: 'triggers next',
      summary: 'show the next fire times of a cron trigger, or of a cron expression, which needs no server',
      ...READS,
      arguments: [{ name: 'trigger', note: 'trigger id, or a quoted cron expression' }],
      flags: [
        { name: 'count', type: 'integer', note: 'show this many fire times', default: 10 },
        {
          name: 'tz',
          type: 'string',
          value: 'zone',
          note: 'evaluate an expression in this IANA time zone (default: UTC)',
        },
      ],
      examples: ['perdure triggers next digest', `perdure triggers next '0 9 * * 1-5' --tz Europe/Berlin --count 4`],
      schema: v.object({
        items: v.array(v.object({ at: v.string(), local: v.string(), offset: v.string(), dst: v.boolean() })),
        nextCursor: v.null(),
      }),
      load: async () => (await import('../commands/triggers-next-command.ts')).triggersNextCommand,
    },
  ],
}
