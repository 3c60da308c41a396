import { MintedToken, TOKEN_ENVS, Token } from '@perdure/protocol'
import * as v from 'valibot'
import { expiryOf } from '../expiry.ts'
import { secondsIn } from '../flag-time.ts'
import type { ArgumentSpec, CommandGroup } from './command-spec.ts'
import { answers } from './operation-rows.ts'
import { OPENING } from './storage-rows.ts'

const ID: ArgumentSpec = { name: 'id', note: 'token id, its beginning, or last', idOf: 'token' }

export const tokenCommands: CommandGroup = {
  summary: 'create, list, revoke and rotate tokens',
  commands: [
    {
      path: 'token create',
      summary: 'create a token and print it; it cannot be shown again',
      target: 'storage',
      flags: [
        { name: 'name', type: 'string', note: 'set a name that says what the token is for', required: true },
        { name: 'scopes', type: 'list', value: 'a,b', note: 'grant these scopes', required: true },
        { name: 'subject', type: 'string', note: 'set the subject that the token acts for (default: the token id)' },
        { name: 'env', type: 'string', note: 'set the environment in the token prefix', choices: TOKEN_ENVS },
        {
          name: 'expires',
          type: 'string',
          value: 'duration',
          note: 'set the lifetime of the token, such as 12h or 30d',
        },
        {
          name: 'expires-at',
          type: 'string',
          value: 'instant',
          note: 'set when the token expires, as an ISO-8601 instant',
        },
      ],
      examples: [
        'TOKEN=$(perdure token create --name ci --scopes agents:invoke:echo --expires 30d)',
        'perdure token create --name ops --scopes "admin:*" --json',
      ],
      exits: OPENING,
      output: 'document',
      schema: MintedToken,
      load: async () => (await import('../commands/token-command.ts')).tokenCreateCommand,
    },
    {
      path: 'token list',
      summary: 'list tokens, newest first, without their values',
      target: 'storage',
      examples: ['perdure token list', 'perdure token list --json=id,name,scopes'],
      exits: OPENING,
      output: 'document',
      schema: v.object({ items: v.array(Token), nextCursor: v.null() }),
      load: async () => (await import('../commands/token-command.ts')).tokenListCommand,
    },
    {
      path: 'token inspect',
      summary: 'show a token, without its value',
      target: 'storage',
      arguments: [ID],
      examples: [
        'perdure token inspect tok_01KX3FJ9M8',
        'perdure token inspect tok_01KX3FJ9M8 --json=scopes,expiresAt',
      ],
      exits: OPENING,
      output: 'document',
      schema: Token,
      load: async () => (await import('../commands/token-command.ts')).tokenInspectCommand,
    },
    {
      path: 'token revoke',
      summary: 'revoke a token immediately and permanently',
      target: 'storage',
      arguments: [ID],
      examples: ['perdure token revoke tok_01KX3FJ9M8', 'perdure token revoke tok_01KX3FJ9M8 --json'],
      exits: OPENING,
      output: 'document',
      schema: Token,
      load: async () => (await import('../commands/token-command.ts')).tokenRevokeCommand,
    },
    answers('tokens.rotate', {
      path: 'token rotate',
      summary: 'replace a token with a new one, printed once; needs a running server',
      arguments: [ID],
      flags: [
        {
          name: 'grace',
          type: 'duration',
          value: 'duration',
          note: 'keep the old token valid for this long (default: revoke it now)',
        },
        { name: 'expires', type: 'string', value: 'duration', note: 'set the lifetime of the new token, such as 30d' },
      ],
      examples: [
        'perdure token rotate tok_01KX3FJ9M8 --grace 10m',
        'perdure token rotate tok_01KX3FJ9M8 --expires 30d --json',
      ],
      input: ({ grace, expires }: { readonly grace?: string; readonly expires?: string }) => {
        const expiresAt = expires === undefined ? undefined : expiryOf({ expires }, Date.now())
        const graceSeconds = secondsIn('grace', grace)
        return {
          ...(graceSeconds === undefined ? {} : { graceSeconds }),
          ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
        }
      },
      note: (minted, { id }: { readonly id: string }) => `${minted.id} replaces ${id}; the token is not shown again`,
      text: ({ token }) => `${token}\n`,
    }),
  ],
}
