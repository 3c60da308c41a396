import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'
import { CHANGES, FOLLOWS, READS } from './server-rows.ts'

const Document = v.record(v.string(), v.unknown())

/** What comes straight from the tables of the interface. */
export const operationCommands: readonly CommandSpec[] = [
  {
    path: 'events tail',
    summary: 'follow the events of a subject, over lost connections',
    ...FOLLOWS,
    arguments: [{ name: 'subject', note: 'such as agent:echo/events' }],
    flags: [{ name: 'since', type: 'string', value: 'eventId', note: 'also what came after this event' }],
    examples: ['perdure events tail agent:echo/events', 'perdure events tail approvals/events --json'],
    load: async () => (await import('../commands/events-command.ts')).eventsTailCommand,
  },
  {
    path: 'api',
    summary: 'call any REST operation by its id; without one, list them',
    ...CHANGES,
    arguments: [{ name: 'operation', note: 'such as runs.list', optional: true }],
    flags: [
      {
        name: 'field',
        short: 'f',
        type: 'pairs',
        value: 'key=value',
        note: 'a path parameter or member of the query or body; JSON when it reads as JSON; may be repeated',
      },
      { name: 'input', type: 'string', value: 'input', note: 'the whole body; @file reads a file, - reads stdin' },
      { name: 'idempotency-key', type: 'string', value: 'key', note: 'makes a repeated call take effect once' },
    ],
    examples: [
      'perdure api runs.list -f status=failed -f limit=5',
      'perdure api sessions.create -f id=s1 -f title=First --json=id',
    ],
    schema: v.unknown(),
    load: async () => (await import('../commands/api-command.ts')).apiCommand,
  },
  {
    path: 'openapi',
    summary: 'print the OpenAPI document of a server',
    ...READS,
    examples: ['perdure openapi > openapi.json', 'perdure openapi --json=paths'],
    schema: Document,
    load: async () => (await import('../commands/documents-command.ts')).openapiCommand,
  },
  {
    path: 'asyncapi',
    summary: 'print the AsyncAPI document of a server',
    ...READS,
    examples: ['perdure asyncapi > asyncapi.json', 'perdure asyncapi --json=channels'],
    schema: Document,
    load: async () => (await import('../commands/documents-command.ts')).asyncapiCommand,
  },
]
