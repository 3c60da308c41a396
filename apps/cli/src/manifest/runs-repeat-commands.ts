import { RunOutcome } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec, FlagSpec } from './command-spec.ts'
import { CHANGES, runFilterFlags } from './server-rows.ts'

const REPEAT_FLAGS: readonly FlagSpec[] = [
  {
    name: 'input',
    type: 'string',
    value: 'input',
    note: 'replace the input: JSON or text, @file, or - for stdin; needs runs:repair if calls are kept',
  },
  { name: 'session', type: 'string', value: 'id', note: 'use this session instead of the one of the run' },
  { name: 'thread', type: 'string', value: 'id', note: 'continue this thread of the workflow instead of a new one' },
]
const RESULT: FlagSpec = {
  name: 'result',
  type: 'pairs',
  value: 'seq=json',
  note: 'replace the recorded result of a step or tool, such as 2=\'{"ok":true}\'; needs runs:repair',
}
const BULK_FLAGS: readonly FlagSpec[] = [
  {
    name: 'status',
    type: 'string',
    note: 'without a run: retry all runs with this status; failed when missing',
    choices: ['failed', 'aborted', 'suspended', 'completed'],
  },
  ...runFilterFlags('retry'),
  { name: 'forks', type: 'boolean', note: 'without a run: also retry failed forks, such as earlier retries' },
  { name: 'yes', type: 'boolean', note: 'do not ask before many runs are retried' },
]
const Refused = v.object({ runId: v.string(), error: v.optional(v.string()) })
const BulkResult = v.object({ retried: v.number(), refused: v.array(Refused) })

/** The commands that start a new run from the recorded calls of another. */
export const runsRepeatCommands = (run: ArgumentSpec): readonly CommandSpec[] => [
  {
    path: 'runs retry',
    summary:
      'repeat a run from its failure, or many runs; repeating the command for many runs retries none twice; behind a decision, it needs runs:repair',
    ...CHANGES,
    arguments: [{ ...run, optional: true }],
    flags: [...BULK_FLAGS, RESULT, ...REPEAT_FLAGS],
    examples: ['perdure runs retry run_01KX3FJ9M8', 'perdure runs retry --status failed --since 1h --agent echo --yes'],
    schema: v.union([RunOutcome, BulkResult]),
    load: async () => (await import('../commands/runs-repeat-command.ts')).runsRetryCommand,
  },
  {
    path: 'runs rerun',
    summary: 'repeat a run from its start',
    ...CHANGES,
    arguments: [run],
    flags: REPEAT_FLAGS,
    examples: ['perdure runs rerun run_01KX3FJ9M8', `perdure runs rerun run_01KX3FJ9M8 --input '{"text":"hi"}'`],
    schema: RunOutcome,
    load: async () => (await import('../commands/runs-repeat-command.ts')).runsRerunCommand,
  },
  {
    path: 'runs fork',
    summary:
      'repeat a run from a point: its recorded calls before that point are kept; behind a decision, it needs runs:repair and asks again unless you may decide',
    ...CHANGES,
    arguments: [run],
    flags: [
      {
        name: 'from',
        type: 'string',
        value: 'point',
        note: 'failure, start, or the number of a call',
        default: 'failure',
      },
      RESULT,
      ...REPEAT_FLAGS,
    ],
    examples: [
      'perdure runs fork run_01KX3FJ9M8 --from 3',
      `perdure runs fork run_01KX3FJ9M8 --from 3 --result 2='"paid"'`,
    ],
    schema: RunOutcome,
    load: async () => (await import('../commands/runs-repeat-command.ts')).runsForkCommand,
  },
]
