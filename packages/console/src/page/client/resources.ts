import type { Event } from '@perdure/client'
import type {
  Agent as AgentSchema,
  Approval as ApprovalSchema,
  Chat as ChatSchema,
  ConsoleSession,
  Fire as FireSchema,
  Health as HealthSchema,
  HookDelivery as HookDeliverySchema,
  HookDeliverySummary as HookDeliverySummarySchema,
  Hook as HookSchema,
  KeptRun as KeptRunSchema,
  ListedRun,
  Run as RunSchema,
  ThreadState,
  Trigger as TriggerSchema,
  Workflow as WorkflowSchema,
} from '@perdure/protocol'
import type { InferOutput } from 'valibot'

export type { Event }
export type Agent = InferOutput<typeof AgentSchema>
export type Approval = InferOutput<typeof ApprovalSchema>
export type Chat = InferOutput<typeof ChatSchema>
export type Health = InferOutput<typeof HealthSchema>
export type Hook = InferOutput<typeof HookSchema>
export type HookDelivery = InferOutput<typeof HookDeliverySchema>
export type HookDeliverySummary = InferOutput<typeof HookDeliverySummarySchema>
export type KeptRun = InferOutput<typeof KeptRunSchema>
export type Fire = InferOutput<typeof FireSchema>
export type Trigger = InferOutput<typeof TriggerSchema>
export type WaitingFor = InferOutput<typeof ThreadState>['waitingFor'][number]
export type Run = InferOutput<typeof RunSchema>
export type RunSummary = InferOutput<typeof ListedRun>
export type Session = InferOutput<typeof ConsoleSession>
export type Workflow = InferOutput<typeof WorkflowSchema>

/** An agent or workflow, as the console lists them. */
export interface Target {
  readonly kind: 'agent' | 'workflow'
  readonly id: string
  readonly description: string
}

/** The subject of the lifecycle events of a target. */
export const subjectOf = ({ kind, id }: Pick<Target, 'kind' | 'id'>): string => `${kind}:${id}/events`

/** The agent or workflow of a run. */
export const targetOf = (run: Partial<Pick<Run, 'agentId' | 'workflowId'>>): Pick<Target, 'kind' | 'id'> =>
  run.agentId === undefined ? { kind: 'workflow', id: run.workflowId ?? '' } : { kind: 'agent', id: run.agentId }
