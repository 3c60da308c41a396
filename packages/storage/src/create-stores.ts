import type { IdempotencyStore, Storage } from '@perdure/ports'
import { approvalReads } from './approvals/approval-store.ts'
import { auditReads } from './audit/audit-log.ts'
import { chatReads } from './chats/chat-store.ts'
import { emissionReads } from './events/emission-store.ts'
import { eventReads } from './events/event-log.ts'
import { fileReads } from './files/file-store.ts'
import { hookDeliveryReads } from './hooks/hook-delivery-store.ts'
import { idempotencyReads } from './keys/idempotency-store.ts'
import { mcpServerReads } from './mcp/mcp-server-store.ts'
import { blockReads } from './memory/block-store.ts'
import { consolidationReads } from './memory/consolidation-store.ts'
import { factReads } from './memory/fact-store.ts'
import { factUpkeepReads } from './memory/fact-upkeep.ts'
import { jobReads } from './memory/job-queue.ts'
import { memoryConflictReads } from './memory/memory-conflict-store.ts'
import { createStore } from './reads.ts'
import { laneReads } from './runs/lane-store.ts'
import { outlineRuns, runReads } from './runs/run-store.ts'
import { runTimerReads } from './runs/run-timers.ts'
import { outlineMessages, sessionReads } from './sessions/session-store.ts'
import { completedSteps, stepReads } from './steps/step-store.ts'
import type { StorageHost } from './storage-host.ts'
import { withStoredTexts } from './stored-texts.ts'
import { subjectRevocationReads } from './tokens/subject-revocation-store.ts'
import { tokenReads } from './tokens/token-store.ts'
import { fireReads } from './triggers/fire-store.ts'
import { triggerReads } from './triggers/trigger-store.ts'
import { deliveryReads } from './webhooks/delivery-store.ts'
import { webhookReads } from './webhooks/webhook-store.ts'

/** The storage ports over a host. `own` replaces reads of idempotency keys, for a host that reads several at once. */
export const createStores = (
  host: StorageHost,
  own: Partial<Pick<IdempotencyStore, 'find'>> = {},
): Omit<Storage, 'status' | 'close'> => ({
  unitOfWork: { commit: (writes) => host.commit(writes) },
  runs: {
    ...createStore(host, runReads),
    outline: (...query) => withStoredTexts(host, host.read(outlineRuns, ...query)),
  },
  runTimers: createStore(host, runTimerReads),
  lanes: createStore(host, laneReads),
  steps: {
    ...createStore(host, stepReads),
    completed: (...query) => withStoredTexts(host, host.read(completedSteps, ...query)),
  },
  approvals: createStore(host, approvalReads),
  emissions: createStore(host, emissionReads),
  events: createStore(host, eventReads),
  idempotency: { ...createStore(host, idempotencyReads), ...own },
  sessions: {
    ...createStore(host, sessionReads),
    outlineMessages: (...query) => withStoredTexts(host, host.read(outlineMessages, ...query)),
  },
  chats: createStore(host, chatReads),
  tokens: createStore(host, tokenReads),
  subjectRevocations: createStore(host, subjectRevocationReads),
  audit: createStore(host, auditReads),
  triggers: createStore(host, triggerReads),
  fires: createStore(host, fireReads),
  mcpServers: createStore(host, mcpServerReads),
  facts: createStore(host, factReads),
  factUpkeep: createStore(host, factUpkeepReads),
  blocks: createStore(host, blockReads),
  memoryConflicts: createStore(host, memoryConflictReads),
  jobs: createStore(host, jobReads),
  consolidation: createStore(host, consolidationReads),
  webhooks: createStore(host, webhookReads),
  deliveries: createStore(host, deliveryReads),
  hookDeliveries: createStore(host, hookDeliveryReads),
  files: createStore(host, fileReads),
})
