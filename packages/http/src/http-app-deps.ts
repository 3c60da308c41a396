import type {
  AbortAgent,
  AbortRun,
  AdmitRequest,
  AnsweredRequest,
  Authenticate,
  ConsoleSessions,
  CookieTags,
  CreateSession,
  CreateTrigger,
  CsrfTokens,
  DeleteChat,
  DeleteFile,
  DeleteSession,
  DeleteThread,
  EditMessage,
  EmitEvent,
  EraseSubject,
  ExportAudit,
  ExportSession,
  ExportSubject,
  FireByHand,
  ForkChat,
  ForkRun,
  IssueTicket,
  KeepCase,
  KeyRequest,
  ListAudit,
  ListRuns,
  ManageDeliveries,
  ManageMcp,
  ManageNodes,
  ManageSkills,
  ManageTriggers,
  ManageWebhooks,
  ProviderSignIn,
  QueueConsolidation,
  ReadAgents,
  ReadApprovals,
  ReadChats,
  ReadConsolidator,
  ReadFiles,
  ReadHealth,
  ReadMemory,
  ReadRuns,
  ReadSessions,
  ReadSkills,
  ReadSubjectUsage,
  ReadTriggers,
  ReadWorkflows,
  Recall,
  ReceiveFile,
  ReceivingHooks,
  Recording,
  Replay,
  ResolveApproval,
  ResolveMemoryConflict,
  ResumeRun,
  ResumeWorkflow,
  RevokeSubject,
  SearchMemory,
  StartRun,
  StoreFile,
  TokenUseCases,
  UpdateChat,
  UpdateSession,
  UseMcp,
  VerifyAudit,
  WatchCredential,
  WithdrawMessage,
  WorkflowThreads,
  WriteBlocks,
  WriteFacts,
} from '@perdure/core'
import type {
  Clock,
  Digest,
  Exposition,
  IdGenerator,
  Logger,
  Meter,
  StreamAnswer,
  Tracer,
  Visibility,
  YieldTurn,
} from '@perdure/ports'
import type { Operation, ProtocolName, SecretsHealth } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { ConsoleData, DocsPage } from './console/console-data.ts'
import type { Answer, Call } from './handlers.ts'
import type { TextAnswer } from './response/text-answer.ts'

/** The part of the server's configuration that HTTP reads. */
export interface HttpConfig {
  readonly basePath: string
  readonly bodyLimitBytes: number
  /** Maximum size of a request body on the routes of other protocols. */
  readonly protocolBodyLimitBytes: number
  readonly maxFileBytes: number
  /** The hooks, whose requests have a limit of their own for each hook and address. */
  readonly hookIds: ReadonlySet<string>
  readonly hookRequestsPerMinute: number
  readonly hookBodyLimitBytes: number
  readonly allowOrigins: readonly string[]
  readonly csrfEnabled: boolean
  readonly trustProxy: number | readonly string[]
  /** Maximum requests per minute from one client address. */
  readonly perIpRequests: number
  /** The same for requests that follow a run through another protocol. */
  readonly pollsPerMinute: number
  readonly requireKey: 'warn' | 'enforce'
  readonly authKind: 'token' | 'none'
  /** The address the server is bound to. */
  readonly host: string
  readonly allowedHosts: readonly string[]
  readonly docsEnabled: boolean
  readonly consoleEnabled: boolean
  /** Whether sessions of the console may change nothing. */
  readonly consoleReadOnly: boolean
  readonly metricsEnabled: boolean
  /** Whether the routes of a protocol are mounted. */
  readonly protocols: Readonly<Record<ProtocolName, boolean>>
  readonly metricsRequireAuth: boolean
}

interface OpenStreamRequest {
  readonly visibility: Visibility
  /** The caller's token; the stream ends when the token is revoked, expires or loses its scopes. */
  readonly tokenId: string | undefined
  readonly lastEventId: string | undefined
}

/** Opens the Server-Sent Events of a run. @throws PerdureError `run-not-found`, `overloaded` */
export type OpenRunStream = (
  request: OpenStreamRequest & { readonly runId: string },
) => Promise<StreamAnswer | TextAnswer>

/** Opens the Server-Sent Events of a session. @throws PerdureError `session-not-found`, `overloaded` */
export type OpenSessionStream = (
  request: OpenStreamRequest & { readonly sessionId: string },
) => Promise<StreamAnswer | TextAnswer>

/** Opens the Server-Sent Events of a replay. @throws PerdureError `overloaded` */
export type OpenReplayStream = (
  recording: Recording,
  request: Pick<OpenStreamRequest, 'tokenId'> & { readonly speed: number | undefined },
) => StreamAnswer

/**
 * Answers a request to an operation of a protocol of other software.
 *
 * @param name the key of the operation in the table of the protocol
 */
export type CallProtocol = (protocol: ProtocolName, name: string, call: Call<Operation>) => Promise<Answer>

/** The response about to be sent, and everything about the request that may be logged or audited. */
export type AnswerNote = AnsweredRequest

export interface UseCases {
  readonly startRun: StartRun
  readonly abortRun: AbortRun
  readonly forkRun: ForkRun
  readonly abortAgent: AbortAgent
  readonly resumeRun: ResumeRun
  readonly editMessage: EditMessage
  readonly withdrawMessage: WithdrawMessage
  readonly readApprovals: ReadApprovals
  readonly resolveApproval: ResolveApproval
  readonly readWorkflows: ReadWorkflows
  readonly threads: WorkflowThreads
  readonly resumeWorkflow: ResumeWorkflow
  readonly deleteThread: DeleteThread
  readonly emitEvent: EmitEvent
  readonly readTriggers: ReadTriggers
  readonly createTrigger: CreateTrigger
  readonly manageTriggers: ManageTriggers
  readonly fireByHand: FireByHand
  readonly readAgents: ReadAgents
  readonly listRuns: ListRuns
  readonly readRuns: ReadRuns
  readonly keepCase: KeepCase
  readonly readSessions: ReadSessions
  readonly createSession: CreateSession
  readonly updateSession: UpdateSession
  readonly deleteSession: DeleteSession
  readonly exportSession: ExportSession
  readonly readChats: ReadChats
  readonly updateChat: UpdateChat
  readonly deleteChat: DeleteChat
  readonly forkChat: ForkChat
  readonly readFiles: ReadFiles
  readonly receiveFile: ReceiveFile
  readonly storeFile: StoreFile
  readonly deleteFile: DeleteFile
  readonly readSkills: ReadSkills
  readonly manageSkills: ManageSkills
  readonly manageMcp: ManageMcp
  readonly useMcp: UseMcp
  readonly manageNodes: ManageNodes
  readonly manageWebhooks: ManageWebhooks
  readonly manageDeliveries: ManageDeliveries
  readonly receiveHook: ReceivingHooks['receiveHook']
  readonly manageHooks: ReceivingHooks['manageHooks']
  readonly readHealth: ReadHealth
  readonly readSecretsHealth: () => InferOutput<typeof SecretsHealth>
  readonly readMetrics: () => Promise<Exposition>
  readonly callProtocol: CallProtocol
  readonly openRunStream: OpenRunStream
  readonly openSessionStream: OpenSessionStream
  readonly replay: Replay
  readonly searchMemory: SearchMemory
  readonly readMemory: ReadMemory
  readonly writeFacts: WriteFacts
  readonly writeBlocks: WriteBlocks
  readonly resolveMemoryConflict: ResolveMemoryConflict
  readonly readConsolidator: ReadConsolidator
  readonly queueConsolidation: QueueConsolidation
  readonly openReplayStream: OpenReplayStream
  readonly issueTicket: IssueTicket
  readonly tokens: TokenUseCases
  readonly revokeSubject: RevokeSubject
  readonly readSubjectUsage: ReadSubjectUsage
  readonly exportSubject: ExportSubject
  readonly eraseSubject: EraseSubject
  readonly listAudit: ListAudit
  readonly exportAudit: ExportAudit
  readonly verifyAudit: VerifyAudit
  readonly consoleSessions: ConsoleSessions
  readonly providerSignIn: ProviderSignIn
}

export interface HttpAppDeps extends UseCases {
  readonly config: HttpConfig
  readonly version: string
  /** Whether other servers still count on this one; always when missing. */
  readonly hasLease?: (() => boolean) | undefined
  /** `undefined` if the server does not serve the web console. */
  readonly consoleData?: ConsoleData | undefined
  /** Called with the first request for the page. */
  readonly readDocsPage: () => Promise<DocsPage>
  readonly digest: Pick<Digest, 'startSha256'>
  readonly yieldTurn: YieldTurn
  readonly clock: Clock
  readonly keyRequest: KeyRequest
  readonly ids: Pick<IdGenerator, 'randomBytes'>
  readonly logger: Logger
  readonly meter: Meter
  /** If omitted, nothing is traced. */
  readonly tracer?: Tracer | undefined
  readonly authenticate: Authenticate
  readonly recall: Recall
  readonly csrfTokens: CsrfTokens
  readonly cookieTags: CookieTags
  readonly watchCredential: WatchCredential
  /** Checks, before the handler runs, that the request can be audited. @throws PerdureError `audit-unavailable` */
  readonly admit?: AdmitRequest | undefined
  /** Called once before each response is sent. If the call rejects, the client receives that error instead. */
  readonly onAnswer?: ((note: AnswerNote) => void | Promise<void>) | undefined
}
