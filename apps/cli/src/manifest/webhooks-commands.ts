import { Delivery, DeliveryStatus } from '@perdure/protocol'
import { secondsIn } from '../flag-time.ts'
import { id, status } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import type { ArgumentSpec, CommandGroup } from './command-spec.ts'
import { answers, deletes, lists } from './operation-rows.ts'
import { CHANGES, CHANGING } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'webhook', note: 'webhook id' }

const DELIVERY: ArgumentSpec = { name: 'delivery', note: 'delivery id' }

const listIn = (text: string | undefined): string[] | undefined => text?.split(',').map((item) => item.trim())

interface CreateFlags {
  readonly endpoint: string
  readonly id?: string
  readonly events?: string
  readonly targets?: string
  readonly owner?: string
}

export const webhooksCommands: CommandGroup = {
  summary: 'manage webhooks, and inspect or repeat their deliveries',
  commands: [
    lists('webhooks.list', {
      path: 'webhooks list',
      summary: 'list webhooks',
      examples: ['perdure webhooks list', 'perdure webhooks list --json=id,url'],
      columns: {
        WEBHOOK: id('id'),
        ENABLED: ({ enabled }) => (enabled ? 'yes' : 'no'),
        EVENTS: ({ events }) => events.join(' '),
        OWNER: 'owner',
        FROM: 'source',
        URL: 'url',
      },
    }),
    answers('webhooks.create', {
      path: 'webhooks create',
      summary: 'add a webhook and print its secret, which is shown only once',
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
      input: ({ endpoint, id, events, targets, owner }: CreateFlags) => ({
        ...{ url: endpoint, id, owner, events: listIn(events), targets: listIn(targets) },
      }),
      text: ({ id, secret }) => `created ${id}; verify its deliveries with this secret:\n${secret}\n`,
    }),
    deletes('webhooks.delete', {
      path: 'webhooks delete',
      summary: 'delete a webhook and its deliveries',
      arguments: [ID],
      examples: ['perdure webhooks delete billing', 'perdure webhooks delete billing --json'],
    }),
    answers('webhooks.enable', {
      path: 'webhooks enable',
      summary: 'enable a webhook: deliver events from now on',
      arguments: [ID],
      examples: ['perdure webhooks enable billing', 'perdure webhooks enable billing --json=enabled'],
      text: ({ id }) => `enabled ${id}\n`,
    }),
    answers('webhooks.disable', {
      path: 'webhooks disable',
      summary: 'disable a webhook: send nothing until it is enabled',
      arguments: [ID],
      examples: ['perdure webhooks disable billing', 'perdure webhooks disable billing --json=enabled'],
      text: ({ id }) => `disabled ${id}\n`,
    }),
    answers('webhooks.rotate', {
      path: 'webhooks rotate',
      summary: 'replace the secret of a webhook and print the new one',
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
      input: ({ grace }: { readonly grace?: string }) => ({ graceSeconds: secondsIn('grace', grace) }),
      text: ({ id, secret }) => `rotated the secret of ${id}:\n${secret}\n`,
    }),
    {
      path: 'webhooks test',
      summary: 'send a test event to a webhook and wait for the response',
      ...CHANGES,
      exits: [...CHANGING, 'problem'],
      arguments: [ID],
      examples: ['perdure webhooks test billing', 'perdure webhooks test billing --json=status,error'],
      schema: Delivery,
      load: async () => (await import('../commands/webhooks-test-command.ts')).webhooksTestCommand,
    },
    lists('webhooks.deliveries', {
      path: 'webhooks deliveries',
      summary: 'list the deliveries of a webhook, newest first',
      arguments: [ID],
      flags: [
        {
          name: 'status',
          type: 'string',
          value: 'status',
          note: 'show only deliveries with this status',
          choices: DeliveryStatus.options,
        },
      ],
      examples: [
        'perdure webhooks deliveries billing',
        'perdure webhooks deliveries billing --status dead --json=id,error',
      ],
      input: ({ status }: { readonly status?: DeliveryStatus }) => ({ status }),
      columns: {
        DELIVERY: id('id'),
        EVENT: 'type',
        STATUS: status('status'),
        ATTEMPTS: 'attempts',
        NEXT: ({ nextAttemptAt }) => relativeText(nextAttemptAt),
        ERROR: 'error',
      },
    }),
    answers('webhooks.redeliver', {
      path: 'webhooks redeliver',
      summary: 'send a delivery again, even if it was delivered',
      arguments: [ID, DELIVERY],
      examples: [
        'perdure webhooks redeliver billing del_01KX3F',
        'perdure webhooks redeliver billing del_01KX3F --json=status',
      ],
      text: ({ id }) => `queued ${id} to be sent again\n`,
    }),
  ],
}
