import type {
  Audit,
  Auth,
  ConsoleSessions,
  Engine,
  IssueTicket,
  ProviderSignIn,
  ReceivingHooks,
  Triggers,
  Webhooks,
} from '@perdure/core'
import type { UseCases } from '@perdure/http'
import type { EventStreams } from '@perdure/realtime'
import type { Services } from './services.ts'

export interface UseCaseParts
  extends Pick<UseCases, 'listRuns' | 'callProtocol' | 'readHealth' | 'readSecretsHealth' | 'readMetrics'> {
  readonly engine: Engine
  readonly services: ReturnType<Services['forEdges']>
  readonly gate: Auth
  readonly triggers: Triggers
  readonly webhooks: Webhooks
  readonly hooks: ReceivingHooks
  readonly audit: Audit
  readonly streams: EventStreams
  readonly issueTicket: IssueTicket
  readonly consoleSessions: ConsoleSessions
  readonly providerSignIn: ProviderSignIn
}

/** What the routes of HTTP call, by the part that provides it. */
export const useCasesOf = ({
  engine,
  services,
  gate,
  triggers,
  webhooks,
  hooks,
  audit,
  streams,
  ...others
}: UseCaseParts): UseCases => ({
  startRun: engine.startRun,
  forkRun: engine.forkRun,
  abortRun: engine.abortRun,
  abortAgent: engine.abortAgent,
  resumeRun: engine.resumeRun,
  editMessage: engine.editMessage,
  withdrawMessage: engine.withdrawMessage,
  readRuns: engine.readRuns,
  replay: engine.replay,
  keepCase: engine.keepCase,
  readAgents: engine.readAgents,
  readApprovals: engine.readApprovals,
  resolveApproval: engine.resolveApproval,
  readWorkflows: engine.readWorkflows,
  threads: engine.threads,
  resumeWorkflow: engine.resumeWorkflow,
  deleteThread: engine.deleteThread,
  emitEvent: engine.emitEvent,

  readSessions: services.readSessions,
  createSession: services.createSession,
  updateSession: services.updateSession,
  deleteSession: services.deleteSession,
  exportSession: services.exportSession,
  readChats: services.readChats,
  updateChat: services.updateChat,
  deleteChat: services.deleteChat,
  forkChat: services.forkChat,
  readFiles: services.readFiles,
  receiveFile: services.receiveFile,
  storeFile: services.storeFile,
  deleteFile: services.deleteFile,
  readSkills: services.readSkills,
  manageSkills: services.manageSkills,
  manageMcp: services.manageMcp,
  useMcp: services.useMcp,
  readSubjectUsage: services.readSubjectUsage,
  exportSubject: services.exportSubject,
  eraseSubject: services.eraseSubject,
  manageNodes: services.manageNodes,
  searchMemory: services.searchMemory,
  readMemory: services.readMemory,
  writeFacts: services.writeFacts,
  writeBlocks: services.writeBlocks,
  resolveMemoryConflict: services.resolveMemoryConflict,
  readConsolidator: services.readConsolidator,
  queueConsolidation: services.queueConsolidation,

  readTriggers: triggers.readTriggers,
  createTrigger: triggers.createTrigger,
  manageTriggers: triggers.manageTriggers,
  fireByHand: triggers.fireByHand,

  manageWebhooks: webhooks.manageWebhooks,
  manageDeliveries: webhooks.manageDeliveries,

  receiveHook: hooks.receiveHook,
  manageHooks: hooks.manageHooks,

  tokens: gate.tokens,
  revokeSubject: gate.revokeSubject,

  listAudit: audit.listAudit,
  exportAudit: audit.exportAudit,
  verifyAudit: audit.verifyAudit,

  openRunStream: streams.openRunStream,
  openSessionStream: streams.openSessionStream,
  openReplayStream: streams.openReplayStream,

  ...others,
})
