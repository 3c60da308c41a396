import { Fire, FireReceipt, listOf, PrunedTriggers, Trigger } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'trigger', note: 'id of the trigger' }

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
    summary: 'show a trigger and its last fires',
    ...READS,
    arguments: [ID],
    examples: ['perdure triggers show digest', 'perdure triggers show digest --json=fires'],
    schema: v.object({ trigger: Trigger, fires: v.array(Fire) }),
    load: async () => (await import('../commands/triggers-command.ts')).triggersShowCommand,
  },
  {
    path: 'triggers fire',
    summary: 'fire a trigger by hand, also a disabled one',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure triggers fire digest', 'perdure triggers fire digest --json=runId'],
    schema: FireReceipt,
    load: async () => (await import('../commands/triggers-command.ts')).triggersFireCommand,
  },
  {
    path: 'triggers enable',
    summary: 'let a trigger fire again',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure triggers enable digest', 'perdure triggers enable digest --json=nextFireAt'],
    schema: Trigger,
    load: async () => (await import('../commands/triggers-command.ts')).triggersEnableCommand,
  },
  {
    path: 'triggers disable',
    summary: 'keep a trigger from firing by itself',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure triggers disable digest', 'perdure triggers disable digest --json=status'],
    schema: Trigger,
    load: async () => (await import('../commands/triggers-command.ts')).triggersDisableCommand,
  },
  {
    path: 'triggers prune',
    summary: 'remove disabled, expired and orphaned triggers',
    ...CHANGES,
    examples: ['perdure triggers prune', 'perdure triggers prune --json'],
    schema: PrunedTriggers,
    load: async () => (await import('../commands/triggers-command.ts')).triggersPruneCommand,
  },
  {
    path: 'triggers next',
    summary: 'show the coming times of a cron trigger, or of an expression without any server',
    ...READS,
    arguments: [{ name: 'trigger', note: 'id of a trigger, or a cron expression in quotes' }],
    flags: [
      { name: 'count', type: 'integer', note: 'how many', default: 10 },
      { name: 'tz', type: 'string', value: 'zone', note: 'IANA time zone of an expression; UTC without it' },
    ],
    examples: ['perdure triggers next digest', `perdure triggers next '0 9 * * 1-5' --tz Europe/Berlin --count 4`],
    schema: v.object({
      items: v.array(v.object({ at: v.string(), local: v.string(), offset: v.string(), dst: v.boolean() })),
      nextCursor: v.null(),
    }),
    load: async () => (await import('../commands/triggers-next-command.ts')).triggersNextCommand,
  },
]
