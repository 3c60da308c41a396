import { Fire, FireReceipt, listOf, PrunedTriggers, Trigger } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'trigger', note: 'trigger id' }

export const triggerCommands: readonly CommandSpec[] = [
  {
    path: 'triggers list',
    summary: 'list triggers with their next fire and catch-up policy',
    ...READS,
    flags: PAGE_FLAGS,
    examples: ['perdure triggers list', 'perdure triggers list --json=id,nextFireAt'],
    schema: listOf(Trigger),
    load: async () => (await import('../commands/triggers-command.ts')).triggersListCommand,
  },
  {
    path: 'triggers show',
    summary: 'show a trigger and its latest fires',
    ...READS,
    arguments: [ID],
    examples: ['perdure triggers show digest', 'perdure triggers show digest --json=fires'],
    schema: v.object({ trigger: Trigger, fires: v.array(Fire) }),
    load: async () => (await import('../commands/triggers-command.ts')).triggersShowCommand,
  },
  {
    path: 'triggers fire',
    summary: 'fire a trigger now, even if it is disabled',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure triggers fire digest', 'perdure triggers fire digest --json=runId'],
    schema: FireReceipt,
    load: async () => (await import('../commands/triggers-command.ts')).triggersFireCommand,
  },
  {
    path: 'triggers enable',
    summary: 'enable a trigger',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure triggers enable digest', 'perdure triggers enable digest --json=nextFireAt'],
    schema: Trigger,
    load: async () => (await import('../commands/triggers-command.ts')).triggersEnableCommand,
  },
  {
    path: 'triggers disable',
    summary: 'disable a trigger; it can still be fired by hand',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure triggers disable digest', 'perdure triggers disable digest --json=status'],
    schema: Trigger,
    load: async () => (await import('../commands/triggers-command.ts')).triggersDisableCommand,
  },
  {
    path: 'triggers prune',
    summary: 'delete disabled, expired and orphaned triggers',
    ...CHANGES,
    examples: ['perdure triggers prune', 'perdure triggers prune --json'],
    schema: PrunedTriggers,
    load: async () => (await import('../commands/triggers-command.ts')).triggersPruneCommand,
  },
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
]
