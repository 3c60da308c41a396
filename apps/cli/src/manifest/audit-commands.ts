import { AuditEntry, AuditVerification, listOf } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandSpec, FlagSpec } from './command-spec.ts'
import { ASKING, PAGE_FLAGS, READS } from './server-rows.ts'

const FILTERS: readonly FlagSpec[] = [
  { name: 'action', type: 'string', note: 'show only entries with this action' },
  { name: 'actor', type: 'string', note: 'show only entries by this subject or token id' },
  {
    name: 'since',
    type: 'string',
    value: 'when',
    note: 'start at this time: an ISO-8601 instant, or a duration before now such as 1h',
  },
  {
    name: 'until',
    type: 'string',
    value: 'when',
    note: 'end before this time: an ISO-8601 instant, or a duration before now such as 1h',
  },
]

export const auditCommands: readonly CommandSpec[] = [
  {
    path: 'audit list',
    summary: 'list audit entries, newest first',
    ...READS,
    flags: [...FILTERS, ...PAGE_FLAGS],
    examples: ['perdure audit list --action token.mint', 'perdure audit list --since 1h --json=seq,action'],
    schema: listOf(AuditEntry),
    load: async () => (await import('../commands/audit-command.ts')).auditListCommand,
  },
  {
    path: 'audit verify',
    summary: 'verify the audit chain of a server, or an exported file with --file',
    target: 'server',
    flags: [
      { name: 'file', type: 'string', value: 'file', note: 'verify this unfiltered NDJSON export; needs no server' },
      {
        name: 'expect',
        type: 'string',
        value: 'size:hash',
        note: 'fail unless the entry with the number <size> has this hash',
      },
    ],
    examples: ['perdure audit verify', 'perdure audit verify --file audit.ndjson'],
    exits: ['unreachable', 'denied', 'problem'],
    output: 'document',
    schema: AuditVerification,
    load: async () => (await import('../commands/audit-verify-command.ts')).auditVerifyCommand,
  },
  {
    path: 'audit export',
    summary: 'write the audit chain to stdout, oldest first; the export itself is recorded in the chain',
    target: 'server',
    flags: [
      ...FILTERS,
      { name: 'format', type: 'string', note: 'write in this format', choices: ['ndjson', 'csv'], default: 'ndjson' },
    ],
    examples: ['perdure audit export > audit.ndjson', 'perdure audit export --since 30d --format csv > audit.csv'],
    exits: ASKING,
    output: 'text',
    schema: v.unknown(),
    load: async () => (await import('../commands/audit-command.ts')).auditExportCommand,
  },
]
