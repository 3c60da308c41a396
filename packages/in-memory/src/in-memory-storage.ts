import type { Storage } from '@perdure/ports'
import { createApprovalTable } from './approval-table.ts'
import { createAuditTable } from './audit-table.ts'
import { createBlockTable } from './block-table.ts'
import { createChatTable } from './chat-table.ts'
import { createConsolidationTable } from './consolidation-table.ts'
import { createDeliveryTable } from './delivery-table.ts'
import { createEmissionTable } from './emission-table.ts'
import { createEventTable } from './event-table.ts'
import { createFactTable } from './fact-table.ts'
import { createFileTable } from './file-table.ts'
import { createFireTable } from './fire-table.ts'
import { createHookDeliveryTable } from './hook-delivery-table.ts'
import { createIdempotencyTable } from './idempotency-table.ts'
import { createJobTable } from './job-table.ts'
import { createLaneTable } from './lane-table.ts'
import { createMcpServerTable } from './mcp-server-table.ts'
import { createMemoryConflictTable } from './memory-conflict-table.ts'
import { createRetention } from './retention.ts'
import { createRunEmit } from './run-emit.ts'
import { createRunTable } from './run-table.ts'
import { createSessionDeletion } from './session-deletion.ts'
import { createSessionTable, type SessionTable } from './session-table.ts'
import { createStepTable } from './step-table.ts'
import { createSubjectRevocationTable } from './subject-revocation-table.ts'
import { createThreadDeletion } from './thread-deletion.ts'
import { createTokenTable } from './token-table.ts'
import { createTriggerTable } from './trigger-table.ts'
import { createUnitOfWork } from './unit-of-work.ts'
import { createWebhookTable } from './webhook-table.ts'

export interface InMemoryStorageOptions {
  /** Epoch of the event log; random by default. */
  readonly epoch?: string
}

/** The reference adapter: every storage port over plain maps kept in memory. `close` only waits for commits. */
export function createInMemoryStorage(options: InMemoryStorageOptions = {}): Storage {
  const lanes = createLaneTable()
  const events = createEventTable(options.epoch ?? crypto.randomUUID().replaceAll('-', ''))
  const runs = createRunTable(lanes)
  const steps = createStepTable()
  const approvals = createApprovalTable()
  const emissions = createEmissionTable()
  const idempotency = createIdempotencyTable(runs.has)
  const chats = createChatTable({ titleOf: (id) => sessions.get(id), runsOf: runs.ofSession })
  const sessions: SessionTable = createSessionTable(
    (id) => runs.ofSession(id).some(({ status }) => status === 'queued' || status === 'running'),
    chats,
  )
  const tokens = createTokenTable()
  const subjectRevocations = createSubjectRevocationTable(tokens)
  const audit = createAuditTable(events.appliers)
  const triggers = createTriggerTable(runs)
  const fires = createFireTable(triggers)
  const mcpServers = createMcpServerTable()
  const webhooks = createWebhookTable()
  const deliveries = createDeliveryTable(webhooks)
  const hookDeliveries = createHookDeliveryTable()
  const facts = createFactTable()
  const files = createFileTable({ hasSession: (id) => sessions.get(id) !== undefined, hasRun: runs.has })
  const blocks = createBlockTable()
  const memoryConflicts = createMemoryConflictTable()
  const jobs = createJobTable()
  const consolidation = createConsolidationTable({
    sessions: () => sessions.all().map(({ id, owner, updatedAt }) => ({ sessionId: id, owner, changedAt: updatedAt })),
    isActive: runs.isSessionActive,
  })

  return {
    unitOfWork: createUnitOfWork({
      ...runs.appliers,
      ...createRunEmit({ runs, events }),
      ...lanes.appliers,
      ...steps.appliers,
      ...approvals.appliers,
      ...emissions.appliers,
      ...events.appliers,
      ...idempotency.appliers,
      ...sessions.appliers,
      ...chats.appliers,
      ...tokens.appliers,
      ...subjectRevocations.appliers,
      ...audit.appliers,
      ...triggers.appliers,
      ...fires.appliers,
      ...mcpServers.appliers,
      ...facts.appliers,
      ...blocks.appliers,
      ...memoryConflicts.appliers,
      ...jobs.appliers,
      ...consolidation.appliers,
      ...webhooks.appliers,
      ...deliveries.appliers,
      ...hookDeliveries.appliers,
      ...files.appliers,
      ...createThreadDeletion({ runs, approvals, idempotency, ofRuns: [steps, events, facts, fires, files] }),
      ...createRetention({ runs, events, approvals, idempotency, ofRuns: [steps, facts, fires, files] }),
      ...createSessionDeletion({
        ...{ sessions, runs, approvals, idempotency, events },
        ofRuns: [steps, events, facts, fires, files],
        ofSessions: [events, facts, jobs, consolidation, files, chats],
      }),
    }),
    runs: runs.store,
    runTimers: runs.timers,
    lanes: lanes.store,
    steps: steps.store,
    approvals: approvals.store,
    emissions: emissions.store,
    events: events.store,
    idempotency: idempotency.store,
    sessions: sessions.store,
    chats: chats.store,
    tokens: tokens.store,
    subjectRevocations: subjectRevocations.store,
    audit: audit.store,
    triggers: triggers.store,
    fires: fires.store,
    mcpServers: mcpServers.store,
    facts: facts.store,
    factUpkeep: facts.upkeep,
    blocks: blocks.store,
    memoryConflicts: memoryConflicts.store,
    jobs: jobs.store,
    consolidation: consolidation.store,
    webhooks: webhooks.store,
    deliveries: deliveries.store,
    hookDeliveries: hookDeliveries.store,
    files: files.store,
    status: async () => ({ writable: true, walBytes: 0, dbBytes: 0 }),
    close: () => Promise.resolve(),
  }
}
