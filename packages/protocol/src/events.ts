import type * as v from 'valibot'
import { AuditEntry } from './resources/audit.ts'
import { ConsolidationEvent } from './resources/consolidator.ts'
import { Fact, MemoryConflict } from './resources/memory.ts'
import {
  DataEvent,
  FileEvent,
  SourceEvent,
  StateDeltaEvent,
  StateEvent,
  WholeMessageEvent,
} from './resources/part-events.ts'
import {
  ApprovalEvent,
  CheckpointEvent,
  ChildEvent,
  LifecycleEvent,
  ReasoningDeltaEvent,
  ReasoningEndEvent,
  ReasoningStartEvent,
  RewoundEvent,
  RunCompactedEvent,
  RunMessageEvent,
  RunScoredEvent,
  StepEvent,
  TextCompleteEvent,
  TextDeltaEvent,
  TextEndEvent,
  TextStartEvent,
  ToolCallEvent,
  ToolExecutionEvent,
  ToolResultEvent,
  UsageEvent,
} from './resources/run-events.ts'
import { RunLogEvent } from './resources/run-logs.ts'
import { MessageEvent, SessionEvent } from './resources/session-events.ts'
import { TriggerEvent } from './resources/trigger-events.ts'
import type { SubjectName } from './subjects.ts'

/** One row of the event table. */
export interface EventSpec {
  /** The subjects that carry the event. */
  readonly subjects: readonly SubjectName[]
  readonly payload: v.GenericSchema
  /** The emitter: the server, or the agent through `ctx.emit` or by yielding. */
  readonly emittedBy: 'server' | 'agent'
  /** Marks a status change of a run. The subject of the run's agent or workflow also carries such an event. */
  readonly lifecycle?: true
  /** The delivery sanitizer always filters this event; it filters other events only in the phase `commentary`. */
  readonly sanitized?: true
  /** The member that holds a piece of a text. Adjacent events that differ only in this member can be stored as one. */
  readonly piece?: string
  readonly summary: string
}

const OF_RUN = ['agentRun', 'workflowRun', 'session', 'sessionRun'] as const
const OF_LIFECYCLE = [...OF_RUN, 'agent', 'workflow'] as const
const OF_APPROVAL = [...OF_RUN, 'approvals'] as const

const lifecycle = { subjects: OF_LIFECYCLE, payload: LifecycleEvent, emittedBy: 'server', lifecycle: true } as const
const toolCall = { subjects: OF_RUN, payload: ToolCallEvent, emittedBy: 'agent' } as const
const toolExecution = { subjects: OF_RUN, payload: ToolExecutionEvent, emittedBy: 'agent' } as const
const part = { subjects: OF_RUN, emittedBy: 'agent' } as const
const child = { subjects: OF_RUN, payload: ChildEvent, emittedBy: 'server' } as const
const approval = { subjects: OF_APPROVAL, payload: ApprovalEvent, emittedBy: 'server' } as const
const step = { subjects: OF_RUN, payload: StepEvent, emittedBy: 'server' } as const
const session = { subjects: ['session'], payload: SessionEvent, emittedBy: 'server' } as const
const trigger = { subjects: ['trigger'], payload: TriggerEvent, emittedBy: 'server' } as const
const fact = { subjects: ['memory'], payload: Fact, emittedBy: 'server' } as const

/** Every event type that the server knows. Agents can also emit types that start with a different first segment. */
// biome-ignore format: one line per table row
export const EVENTS = {
  'run.forked': { ...lifecycle, summary: 'The run was created from the recorded calls of another run; its first event.' },
  'run.queued': { ...lifecycle, summary: 'The run waits for a slot or for its start time.' },
  'run.started': { ...lifecycle, summary: 'An attempt of the run starts.' },
  'run.suspended': { ...lifecycle, summary: 'The run waits for a timer, an event, a child run, an approval, a resume or other code.' },
  'run.resumed': { ...lifecycle, summary: 'The run continues after a suspension.' },
  'run.retrying': { ...lifecycle, summary: 'An attempt of the run failed; the next attempt starts after a delay.' },
  'run.completed': { ...lifecycle, summary: 'The run returned its result.' },
  'run.failed': { ...lifecycle, summary: 'The run ended with an error.' },
  'run.aborted': { ...lifecycle, summary: 'The run was aborted.' },
  'run.rewound': { subjects: OF_RUN, payload: RewoundEvent, emittedBy: 'server', summary: 'Events that the agent emitted after `after` are withdrawn: a new attempt emits them again.' },
  'run.message': { subjects: OF_RUN, payload: RunMessageEvent, emittedBy: 'server', summary: 'The run received a message that the user had sent while the agent was busy.' },
  'run.compacted': { subjects: OF_RUN, payload: RunCompactedEvent, emittedBy: 'server', summary: 'The run recorded what stands for the conversation so far in the prompts of models.' },
  'run.child.started': { ...child, summary: 'The run started a child run and waits for it.' },
  'run.child.ended': { ...child, summary: 'The child run ended.' },
  'run.log': { subjects: OF_RUN, payload: RunLogEvent, emittedBy: 'server', sanitized: true, summary: 'The code of the run wrote a line with `ctx.log`.' },
  'run.scored': { ...part, payload: RunScoredEvent, sanitized: true, summary: 'A scorer judged another run, which `runId` names. `isError`: the scorer itself failed.' },
  'text.start': { subjects: OF_RUN, payload: TextStartEvent, emittedBy: 'agent', summary: 'A block of text starts. If it started before, its earlier text is withdrawn.' },
  'text.delta': { subjects: OF_RUN, payload: TextDeltaEvent, emittedBy: 'agent', piece: 'delta', summary: 'A piece of the answer.' },
  'text.end': { subjects: OF_RUN, payload: TextEndEvent, emittedBy: 'agent', summary: 'The block of text is complete.' },
  'text.complete': { subjects: OF_RUN, payload: TextCompleteEvent, emittedBy: 'agent', summary: 'The whole answer.' },
  'reasoning.start': { subjects: OF_RUN, payload: ReasoningStartEvent, emittedBy: 'agent', sanitized: true, summary: 'A block of reasoning starts. If it started before, its earlier text is withdrawn.' },
  'reasoning.delta': { subjects: OF_RUN, payload: ReasoningDeltaEvent, emittedBy: 'agent', sanitized: true, piece: 'delta', summary: 'A piece of the reasoning.' },
  'reasoning.end': { subjects: OF_RUN, payload: ReasoningEndEvent, emittedBy: 'agent', sanitized: true, summary: 'The block of reasoning is complete.' },
  'tool.call.start': { ...toolCall, summary: 'The model starts a tool call.' },
  'tool.call.delta': { ...toolCall, piece: 'argsDelta', summary: 'A piece of the arguments.' },
  'tool.call.end': { ...toolCall, summary: 'The arguments are complete.' },
  'tool.result': { subjects: OF_RUN, payload: ToolResultEvent, emittedBy: 'agent', summary: 'The result of a tool that `ctx.tool` did not execute.' },
  'tool.execute.start': { ...toolExecution, summary: 'The tool starts executing.' },
  'tool.execute.progress': { ...toolExecution, summary: 'The tool reports progress.' },
  'tool.execute.end': { ...toolExecution, summary: 'The tool returned its result.' },
  'tool.execute.error': { ...toolExecution, summary: 'The tool failed; the run can continue.' },
  'part.state': { ...part, payload: StateEvent, summary: 'The whole state of the agent, for display.' },
  'part.state-delta': { ...part, payload: StateDeltaEvent, summary: 'A change of the state, as JSON Patch (RFC 6902).' },
  'part.source': { ...part, payload: SourceEvent, summary: 'A source that the answer uses.' },
  'part.file': { ...part, payload: FileEvent, summary: 'A file that the agent created.' },
  'part.message': { ...part, payload: WholeMessageEvent, summary: 'A whole message, for example of another agent.' },
  'part.data': { ...part, payload: DataEvent, summary: 'Named data for a user interface. Data with the same id replaces the earlier data.' },
  'tool.approval.requested': { ...approval, subjects: OF_RUN, summary: 'A tool call waits for an approval.' },
  'approval.requested': { ...approval, summary: 'The run waits for an approval.' },
  'approval.reminder': { ...approval, summary: 'The approval is still open after `remindAfter`; sent once.' },
  'approval.escalated': { ...approval, summary: 'The approval was assigned to `escalateTo`, together with its reminder.' },
  'approval.resolved': { ...approval, summary: 'The request was approved or denied.' },
  'approval.expired': { ...approval, summary: 'The approval expired without a decision.' },
  'step.start': { ...step, summary: 'A durable step starts.' },
  'step.end': { ...step, summary: 'The result of the step is stored.' },
  'step.error': { ...step, summary: 'The step failed.' },
  'checkpoint.written': { subjects: OF_RUN, payload: CheckpointEvent, emittedBy: 'server', summary: 'The thread has a new checkpoint.' },
  usage: { subjects: OF_RUN, payload: UsageEvent, emittedBy: 'server', summary: 'A provider call used tokens.' },
  'session.created': { ...session, summary: 'The session was created.' },
  'session.updated': { ...session, summary: 'The session changed.' },
  'session.deleted': { ...session, summary: 'The session and all its data were deleted.' },
  'session.message': { subjects: ['session'], payload: MessageEvent, emittedBy: 'server', summary: 'The transcript has a new message.' },
  'trigger.fired': { ...trigger, summary: 'The trigger fired.' },
  'trigger.skipped': { ...trigger, summary: 'A fire was skipped: the previous run has not ended, or the target is busy.' },
  'trigger.missed': { ...trigger, summary: 'A fire was missed and will not be caught up.' },
  'trigger.failed': { ...trigger, summary: 'The run of a fire failed or could not start, or the schedule cannot be computed.' },
  'trigger.disabled': { ...trigger, summary: 'The trigger no longer fires.' },
  'trigger.enabled': { ...trigger, summary: 'The trigger fires again.' },
  'memory.fact.written': { ...fact, summary: 'A fact was written.' },
  'memory.fact.deleted': { ...fact, summary: 'A fact was deleted.' },
  'memory.conflict': { subjects: ['memoryConflicts'], payload: MemoryConflict, emittedBy: 'server', summary: 'A conflict between facts was found or resolved.' },
  'memory.consolidated': { subjects: ['memory'], payload: ConsolidationEvent, emittedBy: 'server', summary: 'A phase of the consolidator ended.' },
  'audit.appended': { subjects: ['audit'], payload: AuditEntry, emittedBy: 'server', summary: 'An entry was appended to the audit chain; `audit.events` selects which entries are published.' },
} as const satisfies Record<string, EventSpec>

export type EventType = keyof typeof EVENTS

/** The payload of each event. */
export type EventPayloads = { readonly [Type in EventType]: v.InferOutput<(typeof EVENTS)[Type]['payload']> }

/** The syntax of an event type; at most 128 characters. */
export const EVENT_TYPE = /^(?=.{1,128}$)[a-z][a-z0-9]*(\.[a-z0-9-]+)*$/

/** First segments of the types above; an event type that an agent invents must start with a different segment. */
export const RESERVED_EVENT_FAMILIES: ReadonlySet<string> = new Set(Object.keys(EVENTS).map(familyOf))

/** Subjects that carry the events an agent emits. */
export const AGENT_EVENT_SUBJECTS: readonly SubjectName[] = OF_RUN

/** Whether an agent may emit this type: the table says that agents emit it, or its first segment is not reserved. */
export function isAgentEventType(type: string): boolean {
  if (!EVENT_TYPE.test(type)) return false
  if (Object.hasOwn(EVENTS, type)) return EVENTS[type as EventType].emittedBy === 'agent'
  return !RESERVED_EVENT_FAMILIES.has(familyOf(type))
}

/** The member of an event that holds a piece of a text, if the type has one. */
export function pieceOf(type: string): string | undefined {
  const spec: EventSpec | undefined = Object.hasOwn(EVENTS, type) ? EVENTS[type as EventType] : undefined
  return spec?.piece
}

function familyOf(type: string): string {
  return type.split('.', 1)[0] ?? type
}
