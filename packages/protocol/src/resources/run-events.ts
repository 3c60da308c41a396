import * as v from 'valibot'
import { APPROVAL_DECISIONS } from '../approval-statuses.ts'
import { Approval } from './approvals.ts'
import { FinishReason, RunError, RunStatus, RunUsage } from './run-outcome.ts'
import { ForkPoint } from './runs.ts'
import { CallKind } from './workflows.ts'

/** The protocol through which a request came, and the id that the client gave it there. */
const Via = v.object({ protocol: v.string(), ref: v.optional(v.string()) })

export const LifecycleEvent = v.object({
  runId: v.string(),
  status: RunStatus,
  attempt: v.number(),
  position: v.optional(v.number()),
  waitingFor: v.optional(v.unknown()),
  reason: v.optional(v.string()),
  via: v.optional(Via),
  payload: v.optional(v.unknown()),
  delayMs: v.optional(v.number()),
  startAt: v.optional(v.string()),
  from: v.optional(ForkPoint),
  finishReason: v.optional(FinishReason),
  error: v.optional(RunError),
  usage: v.optional(RunUsage),
  result: v.optional(v.unknown()),
})

/** The judgement of a scorer. */
export const RunScoredEvent = v.looseObject({
  runId: v.string(),
  kind: v.picklist(['agent', 'workflow']),
  id: v.string(),
  scorer: v.string(),
  pass: v.boolean(),
  value: v.optional(v.number()),
  reason: v.optional(v.string()),
  isError: v.optional(v.literal(true)),
})

const phase = v.optional(v.picklist(['commentary']))
const messageId = v.optional(v.string())

const blockId = v.optional(v.string())

export const TextStartEvent = v.looseObject({
  messageId: v.string(),
  blockId,
  role: v.optional(v.literal('assistant')),
  phase,
})
export const TextDeltaEvent = v.looseObject({ delta: v.string(), messageId, blockId, phase })
export const TextEndEvent = v.looseObject({
  messageId: v.string(),
  blockId,
  citations: v.optional(v.array(v.unknown())),
})
export const TextCompleteEvent = v.looseObject({ text: v.string(), messageId, phase })
export const ReasoningStartEvent = v.looseObject({ messageId: v.string(), blockId })
export const ReasoningDeltaEvent = v.looseObject({ delta: v.string(), messageId, blockId })
export const ReasoningEndEvent = v.looseObject({ messageId: v.string(), blockId, encrypted: v.optional(v.string()) })

export const ToolCallEvent = v.looseObject({
  toolCallId: v.string(),
  toolName: v.string(),
  args: v.optional(v.unknown()),
  argsDelta: v.optional(v.string()),
  executor: v.optional(v.picklist(['server', 'client'])),
  title: v.optional(v.string()),
  declared: v.optional(v.picklist(['static', 'dynamic'])),
})

const ToolError = v.object({ kind: v.string(), message: v.string() })

export const ToolResultEvent = v.looseObject({
  toolCallId: v.string(),
  result: v.optional(v.unknown()),
  error: v.optional(ToolError),
  preliminary: v.optional(v.boolean()),
  via: v.optional(Via),
})

export const ToolExecutionEvent = v.looseObject({
  toolCallId: v.string(),
  toolName: v.string(),
  idempotencyKey: v.optional(v.string()),
  args: v.optional(v.unknown()),
  durationMs: v.optional(v.number()),
  result: v.optional(v.unknown()),
  /** Whether `result` is `{ file }`, because the result is in a file. */
  isResultInFile: v.optional(v.boolean()),
  error: v.optional(ToolError),
})

export const ApprovalEvent = v.object({
  runId: v.string(),
  approvalId: v.string(),
  toolCallId: v.optional(v.string()),
  ...v.pick(Approval, ['name', 'title', 'payload', 'assignee', 'editedArgs', 'by', 'reason']).entries,
  editable: v.optional(v.boolean()),
  decision: v.optional(v.picklist(APPROVAL_DECISIONS)),
  answer: v.optional(v.unknown()),
  toolName: v.optional(v.string()),
  args: v.optional(v.unknown()),
  via: v.optional(Via),
  replaces: v.optional(v.string()),
})

/** What a model was asked, as hashes. */
const ModelRequest = v.object({
  provider: v.string(),
  model: v.string(),
  tools: v.array(v.object({ name: v.string(), schema: v.string(), rest: v.string() })),
  settings: v.string(),
  messages: v.number(),
  prompt: v.array(v.string()),
})

export const StepEvent = v.object({
  runId: v.string(),
  step: v.string(),
  seq: v.number(),
  kind: CallKind,
  dueAt: v.optional(v.string()),
  error: v.optional(RunError),
  willRetry: v.optional(v.boolean()),
  finishReason: v.optional(v.string()),
  request: v.optional(ModelRequest),
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
  cachedInputTokens: v.optional(v.number()),
  outputTokens: v.number(),
  costUsd: v.number(),
})

export const RunCompactedEvent = v.object({
  runId: v.string(),
  seq: v.number(), // the call whose result stands for the conversation before this event
  through: v.number(), // position in the transcript of the last message that it stands for
})

/** Withdraws the events that the agent emitted after `after` and before this event. */
export const RunMessageEvent = v.object({
  runId: v.string(),
  from: v.string(), // the run that the message would have started
  content: v.unknown(), // the input of that run
})

export const RewoundEvent = v.object({ runId: v.string(), attempt: v.number(), after: v.string() })

export const ChildEvent = v.object({
  runId: v.string(),
  childRunId: v.string(),
  agentId: v.string(),
  seq: v.number(),
  status: v.optional(RunStatus),
})
