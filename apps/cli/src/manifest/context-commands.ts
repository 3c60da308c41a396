import * as v from 'valibot'
import type { CommandGroup } from './command-spec.ts'

const Context = v.object({ name: v.string(), url: v.string(), token: v.optional(v.string()), current: v.boolean() })

export const contextCommands: CommandGroup = {
  summary: 'save servers and switch between them',
  commands: [
    {
      path: 'context list',
      summary: 'list saved servers, with only the last characters of each token',
      target: 'none',
      examples: ['perdure context list', 'perdure context list --json=name,current'],
      output: 'document',
      schema: v.object({ items: v.array(Context), nextCursor: v.null() }),
      load: async () => (await import('../commands/context-command.ts')).contextListCommand,
    },
    {
      path: 'context add',
      summary: 'save a server and its token in a file that only its owner can read',
      target: 'none',
      arguments: [{ name: 'name', note: 'name of the context' }],
      flags: [
        { name: 'url', type: 'string', note: 'set the server URL, including the base path', required: true },
        {
          name: 'token',
          type: 'secret',
          note: 'save the access token in this file (@file) or from stdin (-); a token on the command line is visible to other users',
        },
        { name: 'replace', type: 'boolean', note: 'overwrite an existing context of that name' },
      ],
      examples: [
        'perdure context add local --url http://127.0.0.1:8080/v1',
        'perdure context add prod --url https://agents.example.com/v1 --token - < token.txt',
      ],
      exits: ['conflict'],
      output: 'document',
      schema: Context,
      load: async () => (await import('../commands/context-command.ts')).contextAddCommand,
    },
    {
      path: 'context use',
      summary: 'make a saved server the default',
      target: 'none',
      arguments: [{ name: 'name', note: 'name of the context' }],
      examples: ['perdure context use prod', 'perdure context use prod --json'],
      output: 'document',
      schema: Context,
      load: async () => (await import('../commands/context-command.ts')).contextUseCommand,
    },
  ],
}
