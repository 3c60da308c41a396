import {
  CallKind,
  Checkpoint,
  ExecuteRequest,
  ForkRequest,
  RecordedCall,
  ResumeThreadRequest,
  ThreadState,
  Workflow,
  WorkflowOutcome,
} from '../resources/workflows.ts'
import { REGISTRATION, REGISTRATION_MEMBERS } from './agents.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'
import { OUTCOME, OUTCOME_MEMBERS, RUN_ID, START_MEMBERS } from './runs.ts'

const THREAD_ID = 'thr_01k5x3v8qk7m2n9b4c6d8f0g1h'
const CHECKPOINT_ID = `${RUN_ID}.2`

export const workflowSchemas = {
  Workflow: namedObject(Workflow, {
    description: 'A registered workflow.',
    members: REGISTRATION_MEMBERS,
    example: { ...REGISTRATION, id: 'ship', description: 'Ships a paid order.', tags: [] },
  }),
  ExecuteRequest: namedObject(ExecuteRequest, {
    description: 'Starts a run of a workflow.',
    members: {
      ...START_MEMBERS,
      threadId: 'Thread to continue or create, at most 128 characters. Default: a new thread.',
    },
    example: { input: { order: 7 }, threadId: 'order-7' },
  }),
  WorkflowOutcome: namedObject(WorkflowOutcome, {
    description: 'The outcome of a workflow run or, while it has none, its current status.',
    members: { ...OUTCOME_MEMBERS, threadId: 'Id of the workflow thread.' },
    example: {
      ...OUTCOME,
      result: { shipped: true },
      subject: `workflow:ship/runs/${RUN_ID}/events`,
      sessionId: null,
      threadId: 'order-7',
    },
  }),
  ResumeThreadRequest: namedObject(ResumeThreadRequest, {
    description: 'Delivers an event to a suspended workflow thread.',
    members: {
      threadId: 'Id of the thread.',
      name: 'Name of the event that the thread waits for, 1 to 128 characters. Default: the only wait of the thread.',
      payload: 'Value that the waiting code receives.',
    },
    example: { threadId: 'order-7', name: 'paid', payload: { amount: 40 } },
  }),
  CallKind: namedValue(CallKind, { description: 'Kind of a recorded call.', example: 'step' }),
  RecordedCall: namedObject(RecordedCall, {
    description: 'A durable call that a run has recorded.',
    members: {
      seq: 'Number of the call within the run, from 1.',
      name: 'Name of the call in the code of the workflow.',
      kind: 'Kind of the call.',
      status: 'Progress of the call.',
    },
    example: { seq: 2, name: 'charge-card', kind: 'step', status: 'completed' },
  }),
  ThreadState: namedObject(ThreadState, {
    description: 'The current state of a workflow thread.',
    members: {
      threadId: 'Id of the thread.',
      status: 'Status of the newest run of the thread.',
      runId: 'Id of the newest run of the thread.',
      waitingFor: 'What that run waits for; empty unless it is suspended.',
      steps: 'Recorded calls of that run, in the order of their numbers.',
      checkpointId: 'Id of the newest checkpoint; null when the thread has none.',
    },
    example: {
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
  }),
  Checkpoint: namedObject(Checkpoint, {
    description: 'The stored result of a workflow step.',
    members: {
      id: 'Id of the checkpoint.',
      threadId: 'Id of the thread.',
      seq: 'Number of the call within the run, from 1.',
      step: 'Name of the step.',
      result: 'Value that the step returned.',
      createdAt: 'When the result was stored.',
    },
    example: {
      id: CHECKPOINT_ID,
      threadId: THREAD_ID,
      seq: 2,
      step: 'reserve',
      result: { shelf: 'B4' },
      createdAt: '2026-03-02T09:15:00.900Z',
    },
  }),
  ForkRequest: namedObject(ForkRequest, {
    description: 'Names a point in a thread. The operation is not implemented: fork a run instead.',
    members: {
      threadId: 'Id of the thread.',
      checkpointId: 'Id of the checkpoint to fork from. Default: the newest checkpoint.',
    },
    example: { threadId: 'order-7' },
  }),
} as const satisfies NamedSchemas
