import * as v from 'valibot'
import { Approval } from './approvals.ts'
import { FinishReason, ForkPoint, RunError, RunStatus, RunUsage } from './runs.ts'

export const LifecycleEvent = v.object({
  runId: v.string(),
  status: RunStatus,
  attempt: v.number(),
  position: v.optional(v.number()),
  waitingFor: v.optional(v.unknown()),
  reason: v.optional(v.string()),
  delayMs: v.optional(v.number()),
  startAt: v.optional(v.string()),
  from: v.optional(ForkPoint),
  finishReason: v.optional(FinishReason),
  error: v.optional(RunError),
  usage: v.optional(RunUsage),
  result: v.optional(v.unknown()),
})

const phase = v.optional(v.picklist(['commentary']))
const messageId = v.optional(v.string())

export const TextDeltaEvent = v.looseObject({ delta: v.string(), messageId, phase })
export const TextCompleteEvent = v.looseObject({ text: v.string(), messageId, phase })
export const ReasoningDeltaEvent = v.looseObject({ delta: v.string(), messageId })

export const ToolCallEvent = v.looseObject({
  toolCallId: v.string(),
  toolName: v.string(),
  args: v.optional(v.unknown()),
})

export const ToolExecutionEvent = v.looseObject({
  toolCallId: v.string(),
  toolName: v.string(),
  args: v.optional(v.unknown()),
  durationMs: v.optional(v.number()),
  result: v.optional(v.unknown()),
  error: v.optional(v.object({ kind: v.string(), message: v.string() })),
})

export const ApprovalEvent = v.object({
  runId: v.string(),
  approvalId: v.string(),
  toolCallId: v.optional(v.string()),
  ...v.pick(Approval, ['name', 'title', 'payload', 'by', 'reason']).entries,
  decision: v.optional(v.picklist(['granted', 'denied'])),
})

export const StepEvent = v.object({
  runId: v.string(),
  step: v.string(),
  seq: v.number(),
  kind: v.picklist(['step', 'sleep', 'event', 'approval', 'child', 'version']),
  dueAt: v.optional(v.string()),
  error: v.optional(RunError),
  willRetry: v.optional(v.boolean()),
})

export const CheckpointEvent = v.object({
  runId: v.string(),
  threadId: v.string(),
  checkpointId: v.string(),
  step: v.string(),
  seq: v.number(),
})

export const UsageEvent = v.object({
  runId: v.string(),
  provider: v.string(),
  model: v.string(),
  inputTokens: v.number(),
  outputTokens: v.number(),
  costUsd: v.number(),
})
