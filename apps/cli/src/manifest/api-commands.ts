import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { CHANGES } from './server-rows.ts'

export const apiCommands: CommandGroup = {
  commands: [
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
  ],
}
