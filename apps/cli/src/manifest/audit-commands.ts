import { AuditVerification } from '@perdure/protocol'
import * as v from 'valibot'
import type { Call } from '../call.ts'
import { instantIn } from '../flag-time.ts'
import { status } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import type { CommandGroup, FlagSpec } from './command-spec.ts'
import { lists } from './operation-rows.ts'
import { ASKING } from './server-rows.ts'

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

interface AuditFilterFlags {
  readonly action?: string
  readonly actor?: string
  readonly since?: string
  readonly until?: string
}

const auditFilterOf = ({ action, actor, since, until }: AuditFilterFlags) => ({
  ...{ action, actor, since: instantIn('since', since), until: instantIn('until', until) },
})

/** Streams the response to stdout, because the chain may not fit in memory. */
async function exportAudit(call: Call, flags: AuditFilterFlags & { readonly format: 'ndjson' | 'csv' }): Promise<void> {
  const response = await call.client().audit.export({ ...auditFilterOf(flags), format: flags.format })
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) call.terminal.stdout.write(decoder.decode(chunk, { stream: true }))
}

export const auditCommands: CommandGroup = {
  summary: 'read, verify and export the audit chain',
  commands: [
    lists('audit.list', {
      path: 'audit list',
      summary: 'list audit entries, newest first',
      flags: FILTERS,
      examples: ['perdure audit list --action token.mint', 'perdure audit list --since 1h --json=seq,action'],
      input: auditFilterOf,
      columns: {
        SEQ: 'seq',
        ACTION: 'action',
        BY: ({ actor }) => actor.subject ?? actor.id ?? actor.kind,
        TARGET: 'target',
        DECISION: status('decision'),
        STATUS: 'status',
        WHEN: ({ at }) => relativeText(at),
      },
    }),
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
      exits: [...ASKING, 'problem'],
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
      load: async () => exportAudit,
    },
  ],
}
