import type {
  AbortAgent,
  AbortRun,
  Authenticate,
  CsrfTokens,
  DeleteThread,
  EmitEvent,
  Principal,
  QueueConsolidation,
  ReadAgents,
  ReadApprovals,
  ReadConsolidator,
  ReadHealth,
  ReadMemory,
  ReadRuns,
  ReadWorkflows,
  Recall,
  Recording,
  Replay,
  ResolveApproval,
  ResolveMemoryConflict,
  ResumeRun,
  ResumeWorkflow,
  SearchMemory,
  StartRun,
  TokenUseCases,
  WatchCredential,
  WorkflowThreads,
  WriteBlocks,
  WriteFacts,
} from '@berth/core'
import type { Clock, Digest, Exposition, IdGenerator, Logger, Meter, Visibility } from '@berth/ports'
import type { ErrorCode, SecretsHealth } from '@berth/protocol'
import type { InferOutput } from 'valibot'

/** The part of the server's configuration that HTTP reads. */
export interface HttpConfig {
  readonly basePath: string
  readonly bodyLimitBytes: number
  readonly allowOrigins: readonly string[]
  readonly csrfEnabled: boolean
  readonly trustProxy: number | readonly string[]
  /** Per minute and client address. */
  readonly perIpRequests: number
  readonly requireKey: 'warn' | 'enforce'
  readonly authKind: 'token' | 'none'
  /** Address the server is bound to. */
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly docsEnabled: boolean
  readonly metricsEnabled: boolean
  readonly metricsRequireAuth: boolean
}

/** Opens the Server-Sent Events of a run. @throws AppError `run-not-found`, `overloaded` */
export type OpenRunStream = (request: {
  readonly runId: string
  readonly visibility: Visibility
  readonly lastEventId?: string | undefined
}) => Promise<Response>

/** Opens the Server-Sent Events of a replay. @throws AppError `overloaded` */
export type OpenReplayStream = (recording: Recording, speed: number | undefined) => Response

/** What an operation answered, and whom: all that is needed to record it. Refusals are answers too. */
export interface AnswerNote {
  /** `undefined` when no operation matched. */
  readonly operationId: string | undefined
  readonly method: string
  /** Pattern of the path with the base path; `undefined` when no operation matched. */
  readonly route: string | undefined
  /** The parameters of the path, joined by `/`; `undefined` without any. */
  readonly target: string | undefined
  /** `undefined` when nobody was authenticated. */
  readonly principal: Principal | undefined
  readonly status: number
  readonly error: ErrorCode | undefined
  readonly durationMs: number
  readonly requestId: string
  readonly clientAddress: string
}

export interface UseCases {
  readonly startRun: StartRun
  readonly abortRun: AbortRun
  readonly abortAgent: AbortAgent
  readonly resumeRun: ResumeRun
  readonly readApprovals: ReadApprovals
  readonly resolveApproval: ResolveApproval
  readonly readWorkflows: ReadWorkflows
  readonly threads: WorkflowThreads
  readonly resumeWorkflow: ResumeWorkflow
  readonly deleteThread: DeleteThread
  readonly emitEvent: EmitEvent
  readonly readAgents: ReadAgents
  readonly readRuns: ReadRuns
  readonly readHealth: ReadHealth
  readonly readSecretsHealth: () => InferOutput<typeof SecretsHealth>
  readonly readMetrics: () => Promise<Exposition>
  readonly openRunStream: OpenRunStream
  readonly replay: Replay
  readonly searchMemory: SearchMemory
  readonly readMemory: ReadMemory
  readonly writeFacts: WriteFacts
  readonly writeBlocks: WriteBlocks
  readonly resolveMemoryConflict: ResolveMemoryConflict
  readonly readConsolidator: ReadConsolidator
  readonly queueConsolidation: QueueConsolidation
  readonly openReplayStream: OpenReplayStream
  readonly tokens: TokenUseCases
}

export interface HttpAppDeps extends UseCases {
  readonly config: HttpConfig
  readonly version: string
  readonly clock: Clock
  readonly digest: Digest
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly logger: Logger
  readonly meter: Meter
  readonly authenticate: Authenticate
  readonly recall: Recall
  readonly csrfTokens: CsrfTokens
  readonly watchCredential: WatchCredential
  /** Called once for each answer. */
  readonly onAnswer?: ((note: AnswerNote) => void) | undefined
}
