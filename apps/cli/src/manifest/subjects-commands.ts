import { ErasedData, RevokedSubject } from '@perdure/protocol'
import * as v from 'valibot'
import { pairsText } from '../output/columns.ts'
import type { CommandGroup } from './command-spec.ts'
import { answers } from './operation-rows.ts'
import { OPENING } from './storage-rows.ts'

export const subjectsCommands: CommandGroup = {
  summary: 'show the usage of users, revoke their credentials, and export or delete their data',
  commands: [
    {
      path: 'subjects revoke',
      summary: 'revoke the JWTs and tokens of a user that were issued until now',
      target: 'storage',
      arguments: [
        { name: 'subject', note: 'subject of the user, such as jwt:app:alice, as runs and the audit show it' },
      ],
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
      exits: OPENING,
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
  ],
}
