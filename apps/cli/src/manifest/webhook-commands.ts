import { Delivery, listOf, Webhook, WebhookWithSecret } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'
import { CHANGES, CHANGING, PAGE_FLAGS, READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'webhook', note: 'webhook id' }
const DELIVERY: ArgumentSpec = { name: 'delivery', note: 'delivery id' }

export const webhookCommands: readonly CommandSpec[] = [
  {
    path: 'webhooks list',
    summary: 'list webhooks',
    ...READS,
    flags: PAGE_FLAGS,
    examples: ['perdure webhooks list', 'perdure webhooks list --json=id,url'],
    schema: listOf(Webhook),
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksListCommand,
  },
  {
    path: 'webhooks create',
    summary: 'add a webhook and print its secret, which is shown only once',
    ...CHANGES,
    arguments: [{ name: 'endpoint', note: 'URL that receives the events' }],
    flags: [
      { name: 'id', type: 'string', value: 'id', note: 'use this id instead of a new one' },
      {
        name: 'events',
        type: 'string',
        value: 'types',
        note: 'deliver only events of these types, separated by commas; patterns such as run.* are allowed',
      },
      {
        name: 'targets',
        type: 'string',
        value: 'ids',
        note: 'deliver only events of these agents and workflows, separated by commas',
      },
      {
        name: 'owner',
        type: 'string',
        value: 'subject',
        note: 'deliver the events of this owner, or of every owner with * (default: the owner of the token)',
      },
    ],
    examples: [
      'perdure webhooks create https://billing.example.com/hooks --events run.completed,run.failed',
      'perdure webhooks create https://ops.example.com/hooks --id ops --owner "*" --json=secret',
    ],
    schema: WebhookWithSecret,
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksCreateCommand,
  },
  {
    path: 'webhooks delete',
    summary: 'delete a webhook and its deliveries',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure webhooks delete billing', 'perdure webhooks delete billing --json'],
    schema: v.object({ id: v.string(), deleted: v.literal(true) }),
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksDeleteCommand,
  },
  {
    path: 'webhooks enable',
    summary: 'enable a webhook: deliver events from now on',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure webhooks enable billing', 'perdure webhooks enable billing --json=enabled'],
    schema: Webhook,
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksEnableCommand,
  },
  {
    path: 'webhooks disable',
    summary: 'disable a webhook: send nothing until it is enabled',
    ...CHANGES,
    arguments: [ID],
    examples: ['perdure webhooks disable billing', 'perdure webhooks disable billing --json=enabled'],
    schema: Webhook,
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksDisableCommand,
  },
  {
    path: 'webhooks rotate',
    summary: 'replace the secret of a webhook and print the new one',
    ...CHANGES,
    arguments: [ID],
    flags: [
      {
        name: 'grace',
        type: 'duration',
        value: 'duration',
        note: 'also sign with the previous secret for this long (default: 1d)',
      },
    ],
    examples: ['perdure webhooks rotate billing', 'perdure webhooks rotate billing --grace 1h --json=secret'],
    schema: WebhookWithSecret,
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksRotateCommand,
  },
  {
    path: 'webhooks test',
    summary: 'send a test event to a webhook and wait for the response',
    ...CHANGES,
    exits: [...CHANGING, 'problem'],
    arguments: [ID],
    examples: ['perdure webhooks test billing', 'perdure webhooks test billing --json=status,error'],
    schema: Delivery,
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksTestCommand,
  },
  {
    path: 'webhooks deliveries',
    summary: 'list the deliveries of a webhook, newest first',
    ...READS,
    arguments: [ID],
    flags: [
      {
        name: 'status',
        type: 'string',
        value: 'status',
        note: 'show only deliveries with this status',
        choices: ['pending', 'delivered', 'dead'],
      },
      ...PAGE_FLAGS,
    ],
    examples: [
      'perdure webhooks deliveries billing',
      'perdure webhooks deliveries billing --status dead --json=id,error',
    ],
    schema: listOf(Delivery),
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksDeliveriesCommand,
  },
  {
    path: 'webhooks redeliver',
    summary: 'send a delivery again, even if it was delivered',
    ...CHANGES,
    arguments: [ID, DELIVERY],
    examples: [
      'perdure webhooks redeliver billing del_01KX3F',
      'perdure webhooks redeliver billing del_01KX3F --json=status',
    ],
    schema: Delivery,
    load: async () => (await import('../commands/webhooks-command.ts')).webhooksRedeliverCommand,
  },
]
