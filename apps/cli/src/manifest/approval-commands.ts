import { Approval, ApprovalStatus, listOf } from '@perdure/protocol'
import type { ArgumentSpec, CommandSpec, FlagSpec } from './command-spec.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'approval', note: 'id of the approval' }
const REASON: FlagSpec = { name: 'reason', type: 'string', note: 'is kept with the decision' }

export const approvalCommands: readonly CommandSpec[] = [
  {
    path: 'approvals list',
    summary: 'list what waits for a decision; with --watch also what comes',
    ...READS,
    flags: [
      { name: 'status', type: 'string', note: 'which ones', choices: ApprovalStatus.options, default: 'pending' },
      { name: 'run', type: 'string', value: 'id', note: 'only those of this run' },
      { name: 'watch', type: 'boolean', note: 'go on with the events of approvals, one a line' },
      ...PAGE_FLAGS,
    ],
    examples: ['perdure approvals list', 'perdure approvals list --status granted --json'],
    schema: listOf(Approval),
    load: async () => (await import('../commands/approvals-command.ts')).approvalsListCommand,
  },
  {
    path: 'approvals show',
    summary: 'show an approval and what it is about',
    ...READS,
    arguments: [ID],
    examples: ['perdure approvals show apr_01KX3F', 'perdure approvals show apr_01KX3F --json=payload'],
    schema: Approval,
    load: async () => (await import('../commands/approvals-command.ts')).approvalsShowCommand,
  },
  {
    path: 'approvals approve',
    summary: 'grant an approval; exit code 6 when somebody else has decided otherwise',
    ...CHANGES,
    arguments: [ID],
    flags: [
      REASON,
      { name: 'payload', type: 'string', value: 'input', note: 'JSON or text for the run; @file, or - for stdin' },
    ],
    examples: [
      'perdure approvals approve apr_01KX3F',
      'perdure approvals approve apr_01KX3F --reason "checked with legal"',
    ],
    schema: Approval,
    load: async () => (await import('../commands/approvals-command.ts')).approvalsApproveCommand,
  },
  {
    path: 'approvals deny',
    summary: 'deny an approval; exit code 6 when somebody else has decided otherwise',
    ...CHANGES,
    arguments: [ID],
    flags: [REASON],
    examples: ['perdure approvals deny apr_01KX3F', 'perdure approvals deny apr_01KX3F --reason "too expensive"'],
    schema: Approval,
    load: async () => (await import('../commands/approvals-command.ts')).approvalsDenyCommand,
  },
]
