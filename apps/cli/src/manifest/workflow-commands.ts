import { Checkpoint, listOf, ThreadState, Workflow, WorkflowOutcome } from '@perdure/protocol'
import * as v from 'valibot'
import type { ArgumentSpec, CommandSpec, FlagSpec } from './command-spec.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

const ID: ArgumentSpec = { name: 'workflow', note: 'id of the workflow' }
const THREAD: ArgumentSpec = { name: 'thread', note: 'id of the thread' }
const INPUT = 'JSON, or text; @file reads a file, - reads stdin'
const PAYLOAD: FlagSpec = { name: 'payload', type: 'string', value: 'input', note: INPUT }

export const workflowCommands: readonly CommandSpec[] = [
  {
    path: 'workflows list',
    summary: 'list the registered workflows',
    ...READS,
    flags: PAGE_FLAGS,
    examples: ['perdure workflows list', 'perdure workflows list --json=id'],
    schema: listOf(Workflow),
    load: async () => (await import('../commands/workflows-command.ts')).workflowsListCommand,
  },
  {
    path: 'workflows run',
    summary: 'start a workflow',
    ...CHANGES,
    arguments: [ID],
    flags: [
      { name: 'input', type: 'string', value: 'input', note: INPUT },
      { name: 'thread', type: 'string', value: 'id', note: 'thread to run in; a new one without it' },
      {
        name: 'wait',
        type: 'span',
        value: 'span',
        note: 'how long to wait for its end; exit code 3 when it has not ended by then or waits for somebody; not at all without it',
      },
      { name: 'idempotency-key', type: 'string', value: 'key', note: 'starts one run however often it is sent' },
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
    summary: 'show where a thread stands',
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
    flags: [PAYLOAD, { name: 'name', type: 'string', note: 'which wait to end, when there are several' }],
    examples: [
      'perdure workflows resume onboarding thr_01KX3F',
      `perdure workflows resume onboarding thr_01KX3F --name signed --payload '{"by":"eve"}'`,
    ],
    schema: WorkflowOutcome,
    load: async () => (await import('../commands/workflows-command.ts')).workflowsResumeCommand,
  },
  {
    path: 'workflows checkpoints',
    summary: 'list the checkpoints of a thread, newest first',
    ...READS,
    arguments: [ID, THREAD],
    flags: PAGE_FLAGS,
    examples: [
      'perdure workflows checkpoints onboarding thr_01KX3F',
      'perdure workflows checkpoints onboarding thr_01KX3F --json',
    ],
    schema: listOf(Checkpoint),
    load: async () => (await import('../commands/workflows-command.ts')).workflowsCheckpointsCommand,
  },
  {
    path: 'workflows fork',
    summary: 'not available: the server answers 501; programs fork with forkThread of @perdure/core',
    ...CHANGES,
    arguments: [ID, THREAD],
    flags: [{ name: 'checkpoint', type: 'string', value: 'id', note: 'where to fork; at the last one without it' }],
    examples: ['perdure workflows fork onboarding thr_01KX3F', 'perdure workflows fork onboarding thr_01KX3F --json'],
    schema: v.unknown(),
    load: async () => (await import('../commands/workflows-command.ts')).workflowsForkCommand,
  },
]
