import {
  EventEnvelope,
  FINISH_REASONS,
  ListedRun,
  LOG_LEVELS,
  listOf,
  RUN_STATUS_NAMES,
  Run,
  RunLogLine,
  RunOutcome,
} from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandGroup, FlagSpec } from './command-spec.ts'
import { answers } from './operation-rows.ts'
import { runsRepeatCommands } from './runs-repeat-commands.ts'
import { CHANGES, CHANGING, FOLLOWS, PAGE_FLAGS, READS, runFilterFlags } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'run', note: 'run id, its beginning, or last', idOf: 'run' }

const FILTERS: readonly FlagSpec[] = [
  { name: 'status', type: 'string', note: 'show only runs with this status', choices: RUN_STATUS_NAMES },
  ...runFilterFlags('show'),
  { name: 'session', type: 'string', value: 'id', idOf: 'session', note: 'show only runs of this session' },
  { name: 'until', type: 'string', value: 'when', note: 'show only runs created before this time, given like --since' },
  { name: 'owner', type: 'string', value: 'subject', note: 'show only runs of this owner' },
  { name: 'user', type: 'string', value: 'id', note: 'show only runs with this userId' },
  { name: 'metadata', type: 'pairs', value: 'key=value', note: 'show only runs with this metadata; up to 3 times' },
  { name: 'tag', type: 'string', value: 'tag', note: 'show only runs whose registration has this tag' },
  {
    name: 'of-version',
    type: 'string',
    value: 'version',
    note: 'show only runs of this version of their registration',
  },
  { name: 'reason', type: 'string', note: 'show only runs that ended for this reason', choices: FINISH_REASONS },
  {
    name: 'idempotency-key',
    type: 'string',
    value: 'key',
    note: 'show only runs that you (or the --owner) started with this idempotency key; keys are stored for 24 hours by default',
  },
]

const TraceLine = v.object({
  name: v.string(),
  kind: v.string(),
  startMs: v.number(),
  durationMs: v.number(),
  depth: v.number(),
  status: v.optional(v.string()),
  error: v.optional(v.string()),
})

export const runsCommands: CommandGroup = {
  summary: 'inspect, abort and resume runs',
  commands: [
    {
      path: 'runs list',
      summary: 'list runs, newest first',
      ...READS,
      flags: [
        ...FILTERS,
        {
          name: 'include',
          type: 'string',
          value: 'names',
          note: 'add input, result or input,result to each run of the JSON output',
        },
        ...PAGE_FLAGS,
      ],
      examples: [
        'perdure runs list --status failed --agent echo --since 1h',
        'perdure runs list --include input,result --json | head',
      ],
      schema: listOf(ListedRun),
      load: async () => (await import('../commands/runs-command.ts')).runsListCommand,
    },
    {
      path: 'runs show',
      summary: 'show a run with its input and result',
      ...READS,
      arguments: [ID],
      examples: ['perdure runs show run_01KX3FJ9M8', 'perdure runs show run_01KX3FJ9M8 --json=status,result,usage'],
      schema: Run,
      load: async () => (await import('../commands/runs-command.ts')).runsShowCommand,
    },
    {
      path: 'runs tail',
      summary: 'show the events of a run; with --follow, wait for new events until the run ends',
      ...FOLLOWS,
      arguments: [ID],
      flags: [
        {
          name: 'follow',
          short: 'f',
          type: 'boolean',
          note: 'wait for new events until the run ends, reconnecting if needed',
        },
        { name: 'since', type: 'string', value: 'eventId', note: 'start after this event' },
      ],
      examples: ['perdure runs tail run_01KX3FJ9M8 --follow', 'perdure runs tail run_01KX3FJ9M8 --json'],
      load: async () => (await import('../commands/runs-tail-command.ts')).runsTailCommand,
    },
    {
      path: 'runs logs',
      summary: 'show the lines that the code of a run logged with ctx.log; with --follow, until the run ends',
      ...FOLLOWS,
      arguments: [ID],
      flags: [
        {
          name: 'level',
          type: 'string',
          note: 'show only lines of this level and of more severe levels',
          choices: LOG_LEVELS,
        },
        {
          name: 'follow',
          short: 'f',
          type: 'boolean',
          note: 'wait for new lines until the run ends, reconnecting if needed',
        },
      ],
      examples: ['perdure runs logs run_01KX3FJ9M8 --level warn', 'perdure runs logs run_01KX3FJ9M8 --follow'],
      schema: RunLogLine,
      load: async () => (await import('../commands/runs-logs-command.ts')).runsLogsCommand,
    },
    {
      path: 'runs trace',
      summary: 'show a timeline of the steps of a run',
      ...READS,
      arguments: [ID],
      examples: ['perdure runs trace run_01KX3FJ9M8', 'perdure runs trace run_01KX3FJ9M8 --json'],
      schema: v.object({ runId: v.string(), status: v.string(), durationMs: v.number(), lines: v.array(TraceLine) }),
      load: async () => (await import('../commands/runs-trace-command.ts')).runsTraceCommand,
    },
    answers('runs.abort', {
      path: 'runs abort',
      summary: 'abort a run',
      arguments: [ID],
      flags: [{ name: 'reason', type: 'string', note: 'record this reason with the run' }],
      examples: ['perdure runs abort run_01KX3FJ9M8', 'perdure runs abort run_01KX3FJ9M8 --reason "wrong customer"'],
      input: ({ reason }: { readonly reason?: string }) => (reason === undefined ? {} : { reason }),
      text: ({ runId }) => `aborted ${runId}\n`,
    }),
    ...runsRepeatCommands(ID),
    {
      path: 'runs resume',
      summary: 'resume a suspended run',
      ...CHANGES,
      arguments: [ID],
      flags: [
        {
          name: 'payload',
          type: 'string',
          value: 'input',
          note: 'pass this to the run: JSON or text, @file, or - for stdin',
        },
      ],
      examples: ['perdure runs resume run_01KX3FJ9M8', `perdure runs resume run_01KX3FJ9M8 --payload '{"answer":42}'`],
      schema: RunOutcome,
      load: async () => (await import('../commands/runs-command.ts')).runsResumeCommand,
    },
    {
      path: 'runs replay',
      summary: 'show the recorded events of a run; the access is recorded in the audit chain',
      target: 'server',
      arguments: [ID],
      flags: [{ name: 'raw', type: 'boolean', note: 'show events unredacted; needs the scope traces:read:raw' }],
      examples: ['perdure runs replay run_01KX3FJ9M8', 'perdure runs replay run_01KX3FJ9M8 --raw --json'],
      exits: CHANGING,
      output: 'stream',
      schema: EventEnvelope,
      load: async () => (await import('../commands/runs-replay-command.ts')).runsReplayCommand,
    },
    {
      path: 'runs export',
      summary:
        'write a run and all its events as a JSON document or, with --fixture, as a recording for tests and evals',
      target: 'server',
      arguments: [ID],
      flags: [
        {
          name: 'fixture',
          type: 'boolean',
          note: 'write a recording of the input, model answers, tool calls and decisions, with secrets redacted',
        },
        {
          name: 'others',
          type: 'boolean',
          note: 'with --fixture: include the content of a run of another owner; needs traces:read:sanitized; recorded in the audit chain',
        },
        {
          name: 'raw',
          type: 'boolean',
          note: 'with --fixture: keep secrets; needs traces:read:raw; recorded in the audit chain',
        },
      ],
      exits: CHANGING,
      output: 'document',
      examples: [
        'perdure runs export run_01KX3FJ9M8 > run.json',
        'perdure runs export last --fixture > fixtures/refund.json',
      ],
      schema: v.union([v.object({ run: Run, events: v.array(EventEnvelope) }), v.looseObject({ format: v.string() })]),
      load: async () => (await import('../commands/runs-export-command.ts')).runsExportCommand,
    },
  ],
}
