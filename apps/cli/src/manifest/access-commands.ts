import { ErasedData, MintedToken, RevokedSubject, TOKEN_ENVS, Token } from '@perdure/protocol'
import * as v from 'valibot'
import { secondsIn } from '../duration.ts'
import { expiryOf } from '../expiry.ts'
import { pairsText } from '../output/columns.ts'
import type { ArgumentSpec, CommandSpec } from './command-spec.ts'
import { answers } from './operation-rows.ts'

const ID: ArgumentSpec = { name: 'id', note: 'token id, its beginning, or last', idOf: 'token' }
const EXITS = ['unreachable', 'storageFault'] as const

/** These commands open the database directly, so they work before the first start and while a server runs. */
export const accessCommands: readonly CommandSpec[] = [
  {
    path: 'token create',
    summary: 'create a token and print it; it cannot be shown again',
    target: 'storage',
    flags: [
      { name: 'name', type: 'string', note: 'set a name that says what the token is for', required: true },
      { name: 'scopes', type: 'list', value: 'a,b', note: 'grant these scopes', required: true },
      { name: 'subject', type: 'string', note: 'set the subject that the token acts for (default: the token id)' },
      { name: 'env', type: 'string', note: 'set the environment in the token prefix', choices: TOKEN_ENVS },
      { name: 'expires', type: 'string', value: 'duration', note: 'set the lifetime of the token, such as 12h or 30d' },
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
    exits: EXITS,
    output: 'document',
    schema: MintedToken,
    load: async () => (await import('../commands/token-command.ts')).tokenCreateCommand,
  },
  {
    path: 'token list',
    summary: 'list tokens, newest first, without their values',
    target: 'storage',
    examples: ['perdure token list', 'perdure token list --json=id,name,scopes'],
    exits: EXITS,
    output: 'document',
    schema: v.object({ items: v.array(Token), nextCursor: v.null() }),
    load: async () => (await import('../commands/token-command.ts')).tokenListCommand,
  },
  {
    path: 'token inspect',
    summary: 'show a token, without its value',
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
    summary: 'revoke a token immediately and permanently',
    target: 'storage',
    arguments: [ID],
    examples: ['perdure token revoke tok_01KX3FJ9M8', 'perdure token revoke tok_01KX3FJ9M8 --json'],
    exits: EXITS,
    output: 'document',
    schema: Token,
    load: async () => (await import('../commands/token-command.ts')).tokenRevokeCommand,
  },
  {
    path: 'subjects revoke',
    summary: 'revoke the JWTs and tokens of a user that were issued until now',
    target: 'storage',
    arguments: [{ name: 'subject', note: 'subject of the user, such as jwt:app:alice, as runs and the audit show it' }],
    flags: [
      {
        name: 'issued-until',
        type: 'string',
        value: 'instant',
        note: 'revoke only what was issued at this time or earlier (default: now)',
      },
    ],
    examples: [
      'perdure subjects revoke jwt:app:alice',
      'perdure subjects revoke jwt:app:alice --issued-until 2026-03-02T09:00:00Z --json',
    ],
    exits: EXITS,
    output: 'document',
    schema: RevokedSubject,
    load: async () => (await import('../commands/subjects-command.ts')).subjectsRevokeCommand,
  },
  answers('subjects.usage', {
    path: 'subjects usage',
    summary: 'show what a user uses now and today, and its limits',
    arguments: [{ name: 'subject', note: 'subject of the user, such as jwt:app:alice' }],
    examples: [
      'perdure subjects usage jwt:app:alice',
      'perdure subjects usage jwt:app:alice --json=runsToday,costUsdToday',
    ],
    text: ({ activeRuns, runsToday, costUsdToday, fileBytes, ...shown }, _, paint) => {
      const beside = Object.entries({ activeRuns, runsToday, costUsdToday, fileBytes }).map(
        ([name, { used, limit }]) => [name, limit === null ? `${used}` : `${used} of ${limit}`] as const,
      )
      return pairsText([...Object.entries(shown), ...beside], paint)
    },
  }),
  {
    path: 'subjects export',
    summary: 'write everything that a user owns to stdout as lines of JSON; the export is audited',
    target: 'server',
    arguments: [{ name: 'subject', note: 'subject of the user, such as jwt:app:alice' }],
    examples: [
      'perdure subjects export jwt:app:alice > alice.ndjson',
      'perdure subjects export host:bob | gzip > bob.ndjson.gz',
    ],
    exits: ['unreachable', 'denied'],
    output: 'text',
    schema: v.unknown(),
    load: async () => (await import('../commands/subjects-data-command.ts')).subjectsExportCommand,
  },
  {
    path: 'subjects delete',
    summary: 'revoke the credentials of a user and delete its data; after an interruption, repeat the command',
    target: 'server',
    arguments: [{ name: 'subject', note: 'subject of the user, such as jwt:app:alice' }],
    flags: [{ name: 'yes', type: 'boolean', note: 'do not ask before the data is deleted' }],
    examples: ['perdure subjects delete jwt:app:alice', 'perdure subjects delete jwt:app:alice --yes --json'],
    exits: ['unreachable', 'denied'],
    output: 'document',
    schema: ErasedData,
    load: async () => (await import('../commands/subjects-data-command.ts')).subjectsDeleteCommand,
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
]
