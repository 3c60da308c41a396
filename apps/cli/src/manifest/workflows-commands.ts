import { ThreadState, WorkflowOutcome } from '@perdure/protocol'
import * as v from 'valibot'
import { id } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'
import type { ArgumentSpec, CommandGroup, FlagSpec } from './command-spec.ts'
import { lists } from './operation-rows.ts'
import { CHANGES, READS, START_FLAGS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'workflow', note: 'workflow id' }

const THREAD: ArgumentSpec = { name: 'thread', note: 'thread id' }

const SOURCES = 'JSON or text, @file, or - for stdin'

const PAYLOAD: FlagSpec = { name: 'payload', type: 'string', value: 'input', note: `pass this to the run: ${SOURCES}` }

export const workflowsCommands: CommandGroup = {
  summary: 'run workflows and inspect their threads',
  commands: [
    lists('workflows.list', {
      path: 'workflows list',
      summary: 'list the registered workflows',
      examples: ['perdure workflows list', 'perdure workflows list --json=id'],
      columns: { WORKFLOW: id('id'), 'ON CRASH': 'onCrash', RECOVERIES: 'recoveries', DESCRIPTION: 'description' },
    }),
    {
      path: 'workflows run',
      summary: 'start a workflow',
      ...CHANGES,
      arguments: [ID],
      flags: [
        { name: 'input', type: 'string', value: 'input', note: `send this input: ${SOURCES}` },
        { name: 'thread', type: 'string', value: 'id', note: 'run in this thread (default: a new one)' },
        ...START_FLAGS,
        {
          name: 'wait',
          type: 'duration',
          value: 'duration',
          note: 'wait this long for the run to end; exits 3 if it has not ended or is waiting for an approval, event or resume (default: do not wait)',
        },
        {
          name: 'idempotency-key',
          type: 'string',
          value: 'key',
          note: 'start only one run for all requests with this key',
        },
      ],
      examples: [
        `perdure workflows run onboarding --input '{"user":"u1"}'`,
        'perdure workflows run onboarding --wait 30s --json',
      ],
      schema: WorkflowOutcome,
      load: async () => (await import('../commands/workflows-command.ts')).workflowsRunCommand,
    },
    {
      path: 'workflows show',
      summary: 'show the state of a thread',
      ...READS,
      arguments: [ID, THREAD],
      examples: [
        'perdure workflows show onboarding thr_01KX3F',
        'perdure workflows show onboarding thr_01KX3F --json=status',
      ],
      schema: ThreadState,
      load: async () => (await import('../commands/workflows-command.ts')).workflowsShowCommand,
    },
    {
      path: 'workflows resume',
      summary: 'resume a suspended thread',
      ...CHANGES,
      arguments: [ID, THREAD],
      flags: [
        PAYLOAD,
        { name: 'name', type: 'string', note: 'resume the wait with this name, if the thread has several waits' },
      ],
      examples: [
        'perdure workflows resume onboarding thr_01KX3F',
        `perdure workflows resume onboarding thr_01KX3F --name signed --payload '{"by":"eve"}'`,
      ],
      schema: WorkflowOutcome,
      load: async () => (await import('../commands/workflows-command.ts')).workflowsResumeCommand,
    },
    lists('workflows.checkpoints', {
      path: 'workflows checkpoints',
      summary: 'list the checkpoints of a thread, newest first',
      arguments: [ID, THREAD],
      examples: [
        'perdure workflows checkpoints onboarding thr_01KX3F',
        'perdure workflows checkpoints onboarding thr_01KX3F --json',
      ],
      input: ({ thread }: { readonly thread: string }) => ({ threadId: thread }),
      columns: {
        CHECKPOINT: id('id'),
        SEQ: 'seq',
        STEP: 'step',
        RESULT: ({ result }) => JSON.stringify(result),
        WRITTEN: ({ createdAt }) => relativeText(createdAt),
      },
    }),
    {
      path: 'workflows check',
      summary: 'replay all open runs against the configuration on disk, and list those that it cannot continue',
      target: 'storage',
      examples: ['perdure workflows check', 'perdure workflows check --config perdure.config.mjs --json=problems'],
      output: 'document',
      schema: v.object({
        ok: v.boolean(),
        checked: v.number(),
        problems: v.array(
          v.object({
            runId: v.string(),
            target: v.string(),
            status: v.string(),
            problem: v.picklist(['parks', 'fails', 'unregistered', 'unknown']),
            detail: v.string(),
          }),
        ),
      }),
      load: async () => (await import('../commands/workflows-check-command.ts')).workflowsCheckCommand,
    },
    {
      path: 'workflows fork',
      summary: 'not available: the server answers 501; fork in code with forkThread from @perdure/core',
      ...CHANGES,
      arguments: [ID, THREAD],
      flags: [
        { name: 'checkpoint', type: 'string', value: 'id', note: 'fork at this checkpoint (default: the latest)' },
      ],
      examples: ['perdure workflows fork onboarding thr_01KX3F', 'perdure workflows fork onboarding thr_01KX3F --json'],
      schema: v.unknown(),
      load: async () => (await import('../commands/workflows-command.ts')).workflowsForkCommand,
    },
  ],
}
