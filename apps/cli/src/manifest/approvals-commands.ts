import { APPROVAL_STATUS_NAMES, Approval, listOf } from '@perdure/protocol'
import type { Call } from '../call.ts'
import type { ArgumentSpec, CommandGroup, FlagSpec } from './command-spec.ts'
import { answers } from './operation-rows.ts'
import type { AnswerOf } from './operation-types.ts'
import { PAGE_FLAGS, READS } from './server-rows.ts'

const ID: ArgumentSpec = {
  name: 'approval',
  note: 'approval id, its beginning, or last for the newest pending one',
  idOf: 'approval',
}

const REASON: FlagSpec = { name: 'reason', type: 'string', note: 'record this reason with the decision' }

interface DecisionFlags {
  readonly reason?: string
  readonly payload?: string
  readonly args?: string
}

const decisionOf =
  (approved: boolean) =>
  async ({ reason, ...flags }: DecisionFlags, { terminal }: Call) => {
    const { readInput } = await import('../commands/read-input.ts')
    const payload = await readInput(terminal, 'payload', flags.payload)
    const args = await readInput(terminal, 'args', flags.args)
    return {
      approved,
      ...(reason === undefined ? {} : { reason }),
      ...(payload === undefined ? {} : { payload }),
      ...(args === undefined ? {} : { args }),
    }
  }

const decidedText = ({ status, id, title, name }: AnswerOf<'approvals.resolve'>): string =>
  `${status} ${id}  ${title ?? name}\n`

export const approvalsCommands: CommandGroup = {
  summary: 'list approvals, and approve or deny them',
  commands: [
    {
      path: 'approvals list',
      summary: 'list approvals; with --watch, follow new ones',
      ...READS,
      flags: [
        {
          name: 'status',
          type: 'string',
          note: 'show only approvals with this status',
          choices: APPROVAL_STATUS_NAMES,
          default: 'pending',
        },
        { name: 'run', type: 'string', value: 'id', idOf: 'run', note: 'show only approvals of this run' },
        { name: 'watch', type: 'boolean', note: 'keep running and print approval events, one per line' },
        ...PAGE_FLAGS,
      ],
      examples: ['perdure approvals list', 'perdure approvals list --status approved --json'],
      schema: listOf(Approval),
      load: async () => (await import('../commands/approvals-list-command.ts')).approvalsListCommand,
    },
    answers('approvals.get', {
      path: 'approvals show',
      summary: 'show an approval and its payload',
      arguments: [ID],
      examples: ['perdure approvals show apr_01KX3F', 'perdure approvals show apr_01KX3F --json=payload'],
    }),
    answers('approvals.resolve', {
      path: 'approvals approve',
      summary: 'approve a request; exits 6 if it was already decided differently',
      arguments: [ID],
      flags: [
        REASON,
        {
          name: 'payload',
          type: 'string',
          value: 'input',
          note: 'pass this to the run: JSON or text, @file, or - for stdin',
        },
        {
          name: 'args',
          type: 'string',
          value: 'input',
          note: 'execute with these arguments instead: JSON, @file, or - for stdin',
        },
      ],
      examples: ['perdure approvals approve apr_01KX3F', `perdure approvals approve apr_01KX3F --args '{"amount":40}'`],
      input: decisionOf(true),
      text: decidedText,
    }),
    answers('approvals.resolve', {
      path: 'approvals deny',
      summary: 'deny a request; exits 6 if it was already decided differently',
      arguments: [ID],
      flags: [REASON],
      examples: ['perdure approvals deny apr_01KX3F', 'perdure approvals deny apr_01KX3F --reason "too expensive"'],
      input: decisionOf(false),
      text: decidedText,
    }),
  ],
}
