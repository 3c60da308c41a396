import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { Agent } from './agents.ts'
import { Count } from './count.ts'
import { oneStartTime, RunOutcome, RunStatus, StartEntries, WaitingFor } from './runs.ts'

export const Workflow = v.object(Agent.entries)

export const ExecuteRequest = v.pipe(
  strictObject({ ...StartEntries, threadId: v.optional(OperatorId) }),
  oneStartTime(),
)

export const WorkflowOutcome = v.object({ ...RunOutcome.entries, threadId: v.string() })

export const ResumeThreadRequest = strictObject({
  threadId: OperatorId,
  name: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
  payload: v.optional(v.unknown()),
})

export const CallKind = v.picklist(['step', 'sleep', 'event', 'approval', 'child', 'version', 'client-tool'])

/** A durable call that a run has recorded. */
export const RecordedCall = v.object({
  seq: Count,
  name: v.string(),
  kind: CallKind,
  status: v.picklist(['started', 'waiting', 'completed', 'failed']),
})

/** The current state of a thread. */
export const ThreadState = v.object({
  threadId: v.string(),
  status: RunStatus,
  runId: v.string(),
  waitingFor: v.array(WaitingFor),
  steps: v.array(RecordedCall),
  checkpointId: v.nullable(v.string()),
})

export const Checkpoint = v.object({
  id: v.string(),
  threadId: v.string(),
  seq: Count,
  step: v.string(),
  result: v.unknown(),
  createdAt: Timestamp,
})

export const ForkRequest = strictObject({ threadId: OperatorId, checkpointId: v.optional(v.string()) })
