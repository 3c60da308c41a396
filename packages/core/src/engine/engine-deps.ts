import type {
  CheckJson,
  Clock,
  Cluster,
  Digest,
  Duty,
  IdGenerator,
  Logger,
  Meter,
  Nesting,
  Storage,
  Timers,
  Tracer,
  UnitOfWork,
  YieldTurn,
} from '@perdure/ports'
import type { ResultFiles } from '../durable/result-files.ts'
import type { Pricing } from '../durable/usage/model-pricing.ts'
import type { AnswerCache } from '../idempotency/read-cache.ts'
import type { Recall } from '../idempotency/recall.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { RenderEnvelope } from '../realtime/envelope.ts'
import type { PerSubject } from '../runs/subject-limits.ts'
import type { AgentRegistry } from '../targets/agent-registry.ts'
import type { ConvertSchema } from '../targets/describe-schema.ts'
import type { CreateRunServices } from '../targets/run-services.ts'
import type { WorkflowRegistry } from '../targets/workflow-registry.ts'

export interface EngineDeps
  extends Pick<
    Storage,
    'runs' | 'runTimers' | 'lanes' | 'events' | 'sessions' | 'chats' | 'steps' | 'approvals' | 'emissions'
  > {
  /** Commits writes, and publishes the committed events. */
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly timers: Timers
  readonly yieldTurn: YieldTurn
  readonly ids: IdGenerator
  readonly digest: Pick<Digest, 'sha256'>
  readonly logger: Logger
  readonly meter: Meter
  /** Detects durable calls inside durable calls; if missing, they are not detected. */
  readonly nesting?: Nesting | undefined
  /** Whether other processes write to the storage at the same time; false when missing. */
  readonly isStorageShared?: boolean | undefined
  /** The name of this process in its runs; missing if no other process executes runs. */
  readonly executor?: string | undefined
  /** The processes that share the storage; missing if no other process uses the storage. */
  readonly cluster?: Cluster | undefined
  /** Whether this process holds a duty; if missing, it holds all. */
  readonly isMine?: ((duty: Duty) => boolean) | undefined
  /** No tracing when missing. */
  readonly tracer?: Tracer | undefined
  readonly render: RenderEnvelope
  readonly agents: AgentRegistry
  readonly workflows: WorkflowRegistry
  readonly phase: PhaseHolder
  /** Creates the services on the context of a run. */
  readonly services: CreateRunServices
  readonly limits: EngineLimits
  /** Stores results of durable calls that are longer than `limits.maxResultBytes`; these are refused when missing. */
  readonly resultFiles?: ResultFiles | undefined
  /** Whether the lines of `ctx.log` are also events of the run. Default: true. */
  readonly captureLogs?: boolean | undefined
  /** Parks or fails a run whose code no longer makes its recorded calls. Default: `park`. */
  readonly onDivergence?: 'park' | 'fail' | undefined
  /** Whether a run may create the session that it names without `sessions:write`. Default: false. */
  readonly createSessionOnInvoke?: boolean | undefined
  /** Whether spans contain what models are asked and answer. Default: false. */
  readonly recordContent?: boolean | undefined
  /** Turns tokens into costs; when missing, only reported costs count. */
  readonly pricing?: Pricing | undefined
  /** Caches answers of repeated requests; no caching when missing. */
  readonly answerCache?: Pick<AnswerCache, 'startReading'> | undefined
  readonly recall: Recall
  readonly basePath: string
  /** Checks arguments that a person has changed against the schema of the approval; such changes are refused when missing. */
  readonly checkJson?: CheckJson | undefined
  /** Describes the schemas of libraries without Standard JSON Schema; such schemas have no description when missing. */
  readonly convertSchema?: ConvertSchema | undefined
}

export interface EngineLimits {
  readonly concurrency: number // runs that execute at once
  readonly maxQueued: number
  readonly maxShare?: number | undefined // part of the slots that a subject may hold while others wait; 0.5 when missing
  /** Limits on the runs that one subject starts; none when missing. */
  readonly perSubject?: PerSubject | undefined
  readonly maxResultBytes: number
  readonly maxEventBytes: number
  readonly abortGraceMs: number
  readonly idempotencyTtlMs: number
  readonly wakesPerCommit?: number | undefined // maximum waits that an event ends per commit; 200 when missing
}
