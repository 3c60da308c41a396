import { AuditEntry, AuditVerification, listOf } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandSpec, FlagSpec } from './command-spec.ts'
import { ASKING, PAGE_FLAGS, READS } from './server-rows.ts'

const FILTERS: readonly FlagSpec[] = [
  { name: 'action', type: 'string', note: 'only entries of this action' },
  { name: 'actor', type: 'string', note: 'only entries of this subject, or of this id of a token' },
  { name: 'since', type: 'string', value: 'when', note: 'a span such as 1h, or an ISO-8601 instant' },
  { name: 'until', type: 'string', value: 'when', note: 'a span such as 1h, or an ISO-8601 instant; exclusive' },
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
    summary: 'verify the audit chain, or with --file an exported one without any server',
    target: 'server',
    flags: [
      { name: 'file', type: 'string', value: 'file', note: 'NDJSON of perdure audit export, without filters' },
      { name: 'expect', type: 'string', value: 'size:hash', note: 'entry number size must have this hash' },
    ],
    examples: ['perdure audit verify', 'perdure audit verify --file audit.ndjson'],
    exits: ['unreachable', 'denied', 'problem'],
    output: 'document',
    schema: AuditVerification,
    load: async () => (await import('../commands/audit-verify-command.ts')).auditVerifyCommand,
  },
  {
    path: 'audit export',
    summary: 'write the audit chain to stdout, oldest first; the export is an entry of it',
    target: 'server',
    flags: [
      ...FILTERS,
      { name: 'format', type: 'string', note: 'how it is written', choices: ['ndjson', 'csv'], default: 'ndjson' },
    ],
    examples: ['perdure audit export > audit.ndjson', 'perdure audit export --since 30d --format csv > audit.csv'],
    exits: ASKING,
    output: 'text',
    schema: v.unknown(),
    load: async () => (await import('../commands/audit-command.ts')).auditExportCommand,
  },
]
