import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'

const Context = v.object({ name: v.string(), url: v.string(), token: v.optional(v.string()), current: v.boolean() })

export const contextCommands: readonly CommandSpec[] = [
  {
    path: 'context list',
    summary: 'list the servers that are remembered; of tokens only their end',
    target: 'none',
    examples: ['perdure context list', 'perdure context list --json=name,current'],
    output: 'document',
    schema: v.object({ items: v.array(Context), nextCursor: v.null() }),
    load: async () => (await import('../commands/context-command.ts')).contextListCommand,
  },
  {
    path: 'context add',
    summary: 'remember a server and its token, in a file only its owner may read',
    target: 'none',
    arguments: [{ name: 'name', note: 'what to call it' }],
    flags: [
      { name: 'url', type: 'string', note: 'address with its base path', required: true },
      { name: 'token', type: 'string', note: 'access token; - reads stdin, so that no history keeps it' },
      { name: 'replace', type: 'boolean', note: 'also when there is one of that name' },
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
    summary: 'speak to this server from now on',
    target: 'none',
    arguments: [{ name: 'name', note: 'of the context' }],
    examples: ['perdure context use prod', 'perdure context use prod --json'],
    output: 'document',
    schema: Context,
    load: async () => (await import('../commands/context-command.ts')).contextUseCommand,
  },
]
