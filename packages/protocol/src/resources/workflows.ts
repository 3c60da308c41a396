import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Agent, REGISTRATION } from './agents.ts'
import { Count } from './count.ts'
import { RUN_ID } from './example-ids.ts'
import { OUTCOME, RunOutcome, RunStatus, WaitingFor } from './run-outcome.ts'
import { oneStartTime, StartEntries } from './run-requests.ts'

export const Workflow = documented(v.object(Agent.entries), 'A registered workflow.', {
  ...REGISTRATION,
  id: 'ship',
  description: 'Ships a paid order.',
  tags: [],
})

export const ExecuteRequest = documented(
  v.pipe(
    strictObject({
      ...StartEntries,
      threadId: member(
        v.optional(OperatorId),
        'Thread to continue or create, at most 128 characters. Default: a new thread.',
      ),
    }),
    oneStartTime(),
  ),
  'Starts a run of a workflow.',
  { input: { order: 7 }, threadId: 'order-7' },
)

export const WorkflowOutcome = documented(
  v.object({ ...RunOutcome.entries, threadId: member(v.string(), 'Id of the workflow thread.') }),
  'The outcome of a workflow run or, while it has none, its current status.',
  {
    ...OUTCOME,
    result: { shipped: true },
    subject: `workflow:ship/runs/${RUN_ID}/events`,
    sessionId: null,
    threadId: 'order-7',
  },
)

export const ResumeThreadRequest = documented(
  strictObject({
    threadId: member(OperatorId, 'Id of the thread.'),
    name: member(
      v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
      'Name of the event that the thread waits for, 1 to 128 characters. Default: the only wait of the thread.',
    ),
    payload: member(v.optional(v.unknown()), 'Value that the waiting code receives.'),
  }),
  'Delivers an event to a suspended workflow thread.',
  { threadId: 'order-7', name: 'paid', payload: { amount: 40 } },
)

export const CallKind = documented(
  v.picklist(['step', 'sleep', 'event', 'approval', 'child', 'version', 'client-tool']),
  'Kind of a recorded call.',
  'step',
)

export type CallKind = v.InferOutput<typeof CallKind>

const CallStatus = v.picklist(['started', 'waiting', 'completed', 'failed'])
export type CallStatus = v.InferOutput<typeof CallStatus>

export const RecordedCall = documented(
  v.object({
    seq: member(Count, 'Number of the call within the run, from 1.'),
    name: member(v.string(), 'Name of the call in the code of the workflow.'),
    kind: member(CallKind, 'Kind of the call.'),
    status: member(CallStatus, 'Progress of the call.'),
  }),
  'A durable call that a run has recorded.',
  { seq: 2, name: 'charge-card', kind: 'step', status: 'completed' },
)

const CHECKPOINT_ID = `${RUN_ID}.2`

export const ThreadState = documented(
  v.object({
    threadId: member(v.string(), 'Id of the thread.'),
    status: member(RunStatus, 'Status of the newest run of the thread.'),
    runId: member(v.string(), 'Id of the newest run of the thread.'),
    waitingFor: member(v.array(WaitingFor), 'What that run waits for; empty unless it is suspended.'),
    steps: member(v.array(RecordedCall), 'Recorded calls of that run, in the order of their numbers.'),
    checkpointId: member(v.nullable(v.string()), 'Id of the newest checkpoint; null when the thread has none.'),
  }),
  'The current state of a workflow thread.',
  {
    threadId: 'order-7',
    status: 'suspended',
    runId: RUN_ID,
    waitingFor: [{ kind: 'event', name: 'paid', dueAt: '2026-03-03T09:15:00.000Z' }],
    steps: [
      { seq: 1, name: 'reserve', kind: 'step', status: 'completed' },
      { seq: 2, name: 'paid', kind: 'event', status: 'waiting' },
    ],
    checkpointId: CHECKPOINT_ID,
  },
)

const THREAD_ID = 'thr_01k5x3v8qk7m2n9b4c6d8f0g1h'

export const ResultFile = documented(
  v.object({
    id: member(v.string(), 'Id of the file.'),
    bytes: member(Count, 'Size of the content, in bytes.'),
  }),
  'A file whose content is the result of a step.',
  { id: 'file_01k5x3v8qk7m2n9b4c6d8f0g1h', bytes: 2_097_152 },
)

export const Checkpoint = documented(
  v.object({
    id: member(v.string(), 'Id of the checkpoint.'),
    threadId: member(v.string(), 'Id of the thread.'),
    seq: member(Count, 'Number of the call within the run, from 1.'),
    step: member(v.string(), 'Name of the step.'),
    result: member(v.unknown(), 'Value that the step returned; null when `resultFile` has it.'),
    resultFile: member(
      v.optional(ResultFile),
      'The file whose content is the result: `GET /files/{id}`. Absent unless the result is longer than `runs.maxResultBytes`.',
    ),
    createdAt: member(Timestamp, 'When the result was stored.'),
  }),
  'The stored result of a workflow step.',
  {
    id: CHECKPOINT_ID,
    threadId: THREAD_ID,
    seq: 2,
    step: 'reserve',
    result: { shelf: 'B4' },
    createdAt: '2026-03-02T09:15:00.900Z',
  },
)

export const ForkRequest = documented(
  strictObject({
    threadId: member(OperatorId, 'Id of the thread.'),
    checkpointId: member(v.optional(v.string()), 'Id of the checkpoint to fork from. Default: the newest checkpoint.'),
  }),
  'Names a point in a thread. The operation is not implemented: fork a run instead.',
  { threadId: 'order-7' },
)
