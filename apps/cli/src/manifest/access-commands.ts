import { MintedToken, TOKEN_ENVS, Token } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'

const ID: ArgumentSpec = { name: 'id', note: 'of the token' }
const EXITS = ['storageFault'] as const

/** Tokens and the database: they work before the first start and beside a running server. */
export const accessCommands: readonly CommandSpec[] = [
  {
    path: 'token create',
    summary: 'mint a token; it is shown once',
    target: 'storage',
    flags: [
      { name: 'name', type: 'string', note: 'what it is for', required: true },
      { name: 'scopes', type: 'list', value: 'a,b', note: 'what it may do, separated by commas', required: true },
      { name: 'subject', type: 'string', note: 'who it speaks for; its own id when missing' },
      { name: 'env', type: 'string', note: 'part of its text', choices: TOKEN_ENVS },
      { name: 'expires', type: 'string', value: 'span', note: 'lifetime, such as 12h or 30d' },
      { name: 'expires-at', type: 'string', value: 'instant', note: 'ISO-8601 instant' },
    ],
    examples: [
      'TOKEN=$(perdure token create --name ci --scopes agents:invoke:echo --expires 30d)',
      'perdure token create --name ops --scopes "admin:*" --json',
    ],
    exits: EXITS,
    output: 'document',
    schema: MintedToken,
    load: async () => (await import('../commands/token-command.ts')).tokenCreateCommand,
  },
  {
    path: 'token list',
    summary: 'list tokens, newest first; never their text',
    target: 'storage',
    examples: ['perdure token list', 'perdure token list --json=id,name,scopes'],
    exits: EXITS,
    output: 'document',
    schema: v.object({ items: v.array(Token), nextCursor: v.null() }),
    load: async () => (await import('../commands/token-command.ts')).tokenListCommand,
  },
  {
    path: 'token inspect',
    summary: 'show a token; never its text',
    target: 'storage',
    arguments: [ID],
    examples: ['perdure token inspect tok_01KX3FJ9M8', 'perdure token inspect tok_01KX3FJ9M8 --json=scopes,expiresAt'],
    exits: EXITS,
    output: 'document',
    schema: Token,
    load: async () => (await import('../commands/token-command.ts')).tokenInspectCommand,
  },
  {
    path: 'token revoke',
    summary: 'revoke a token at once and for good',
    target: 'storage',
    arguments: [ID],
    examples: ['perdure token revoke tok_01KX3FJ9M8', 'perdure token revoke tok_01KX3FJ9M8 --json'],
    exits: EXITS,
    output: 'document',
    schema: Token,
    load: async () => (await import('../commands/token-command.ts')).tokenRevokeCommand,
  },
  {
    path: 'token rotate',
    summary: 'replace a token of a running server by a new one, shown once',
    target: 'server',
    arguments: [ID],
    flags: [
      { name: 'grace', type: 'span', value: 'span', note: 'how long the old one stays valid; none without it' },
      { name: 'expires', type: 'string', value: 'span', note: 'lifetime of the new one, such as 30d' },
    ],
    examples: [
      'perdure token rotate tok_01KX3FJ9M8 --grace 10m',
      'perdure token rotate tok_01KX3FJ9M8 --expires 30d --json',
    ],
    exits: ['unreachable', 'denied', 'conflict'],
    output: 'document',
    schema: MintedToken,
    load: async () => (await import('../commands/token-rotate-command.ts')).tokenRotateCommand,
  },
]
