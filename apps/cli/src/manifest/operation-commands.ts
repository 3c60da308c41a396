import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'
import { answers } from './operation-rows.ts'
import { CHANGES, FOLLOWS } from './server-rows.ts'

const indented = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`

/** Commands derived from the API tables. */
export const operationCommands: readonly CommandSpec[] = [
  {
    path: 'events tail',
    summary: 'follow the events of a subject, reconnecting when the connection drops',
    ...FOLLOWS,
    arguments: [{ name: 'subject', note: 'event subject, such as agent:echo/events' }],
    flags: [{ name: 'since', type: 'string', value: 'eventId', note: 'start after this event' }],
    examples: ['perdure events tail agent:echo/events', 'perdure events tail approvals/events --json'],
    load: async () => (await import('../commands/events-command.ts')).eventsTailCommand,
  },
  {
    path: 'api',
    summary: 'call any REST operation by its id; without an id, list the operations',
    ...CHANGES,
    arguments: [{ name: 'operation', note: 'operation id, such as runs.list', optional: true }],
    flags: [
      {
        name: 'field',
        short: 'f',
        type: 'pairs',
        value: 'key=value',
        note: 'set a path parameter, query parameter or body field, parsed as JSON when it is valid JSON; repeatable',
      },
      {
        name: 'input',
        type: 'string',
        value: 'input',
        note: 'send this request body: JSON or text, @file, or - for stdin',
      },
      {
        name: 'idempotency-key',
        type: 'string',
        value: 'key',
        note: 'make repeated requests with this key take effect only once',
      },
    ],
    examples: [
      'perdure api runs.list -f status=failed -f limit=5',
      'perdure api sessions.create -f id=s1 -f title=First --json=id',
    ],
    schema: v.unknown(),
    load: async () => (await import('../commands/api-command.ts')).apiCommand,
  },
  answers('docs.openapi', {
    path: 'openapi',
    summary: 'print the OpenAPI document of a server',
    examples: ['perdure openapi > openapi.json', 'perdure openapi --json=paths'],
    text: indented,
  }),
  answers('docs.asyncapi', {
    path: 'asyncapi',
    summary: 'print the AsyncAPI document of a server',
    examples: ['perdure asyncapi > asyncapi.json', 'perdure asyncapi --json=channels'],
    text: indented,
  }),
]
