import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'
import { Listening, SERVING_FLAGS } from './serving-rows.ts'

const DevEvent = v.variant('event', [
  v.object({
    event: v.literal('restarted'),
    host: v.string(),
    port: v.number(),
    basePath: v.string(),
    durationMs: v.number(),
    changed: v.array(v.string()),
  }),
  v.object({ event: v.literal('refused'), isServing: v.boolean(), error: v.string(), message: v.string() }),
  v.object({ event: v.literal('ended'), exitCode: v.number() }),
  v.object({ event: v.literal('minted'), token: v.optional(v.string()), tokenFile: v.optional(v.string()) }),
])

export const devCommands: CommandGroup = {
  commands: [
    {
      path: 'dev',
      summary: 'start a development server with its own pepper and token; restarts when a source file changes',
      target: 'storage',
      flags: [
        ...SERVING_FLAGS,
        { name: 'open', type: 'boolean', note: 'open the console in a browser' },
        {
          name: 'inspect',
          type: 'integer',
          value: 'port',
          note: 'let a debugger attach to the server on this port of 127.0.0.1 (without a value: 9229)',
          bare: 9_229,
        },
        {
          name: 'verbose',
          type: 'boolean',
          note: 'log every field of requests and runs, and print the stack trace of an error',
        },
        { name: 'no-watch', type: 'boolean', note: 'do not restart when the configuration or its imports change' },
      ],
      examples: ['perdure dev', 'perdure dev --demo --port 9000'],
      exits: ['unreachable', 'storageFault'],
      output: 'stream',
      schema: v.union([Listening, DevEvent]),
      isService: true,
      load: async () => (await import('../commands/dev-command.ts')).devCommand,
    },
  ],
}
