import { expect } from 'vitest'
import { anEvent, aRun } from '../builders.ts'
import { approvalStoreCases } from './approval-store.contract.ts'
import { auditLogCases } from './audit-log.contract.ts'
import { blockStoreCases } from './block-store.contract.ts'
import { chatStoreCases } from './chat-store.contract.ts'
import { consolidationStoreCases } from './consolidation-store.contract.ts'
import { type ContractCase, type ContractSuite, registerContract, type StorageHarness } from './contract-case.ts'
import { deliveryStoreCases } from './delivery-store.contract.ts'
import { emissionStoreCases } from './emission-store.contract.ts'
import { eventLogCases } from './event-log.contract.ts'
import { factStoreCases } from './fact-store.contract.ts'
import { factUpkeepCases } from './fact-upkeep.contract.ts'
import { fileStoreCases } from './file-store.contract.ts'
import { fireStoreCases } from './fire-store.contract.ts'
import { hookDeliveryStoreCases } from './hook-delivery-store.contract.ts'
import { idempotencyStoreCases } from './idempotency-store.contract.ts'
import { jobQueueCases } from './job-queue.contract.ts'
import { laneStoreCases } from './lane-store.contract.ts'
import { mcpServerStoreCases } from './mcp-server-store.contract.ts'
import { memoryConflictStoreCases } from './memory-conflict-store.contract.ts'
import { retentionCases } from './retention.contract.ts'
import { runStoreCases } from './run-store.contract.ts'
import { runTimersCases } from './run-timers.contract.ts'
import { sessionStoreCases } from './session-store.contract.ts'
import { stepStoreCases } from './step-store.contract.ts'
import { subjectRevocationStoreCases } from './subject-revocation-store.contract.ts'
import { tokenStoreCases } from './token-store.contract.ts'
import { triggerStoreCases } from './trigger-store.contract.ts'
import { unitOfWorkCases } from './unit-of-work.contract.ts'
import { webhookStoreCases } from './webhook-store.contract.ts'

const callbacksOfSettledPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const storageCases: readonly ContractCase[] = [
  {
    title: 'reports that it is writable and sizes that are not negative',
    async run(storage) {
      const status = await storage.status()

      expect(status.writable).toBe(true)
      expect([status.walBytes, status.dbBytes].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)).toBe(true)
    },
  },
  {
    title: 'finishes commits in progress before it closes',
    async run(storage) {
      let resolved = 0
      const commits = Array.from({ length: 20 }, async (_, index) => {
        const outcome = await storage.unitOfWork.commit([
          { type: 'run.insert', run: aRun({ id: `run-${index}` }) },
          { type: 'event.append', events: [anEvent({ topic: 'closing' })] },
        ])
        resolved += 1
        return outcome.committed
      })

      await storage.close()
      await callbacksOfSettledPromises()

      expect(resolved).toBe(20)
      expect(new Set(await Promise.all(commits))).toEqual(new Set([true]))
    },
  },
  {
    title: 'can be closed repeatedly and concurrently',
    async run(storage) {
      await Promise.all([storage.close(), storage.close()])

      await expect(storage.close()).resolves.toBeUndefined()
    },
  },
]

/** The suites of all storage ports. */
export const STORAGE_SUITES: readonly ContractSuite[] = [
  { port: 'UnitOfWork', cases: unitOfWorkCases },
  { port: 'UnitOfWork', cases: retentionCases },
  { port: 'RunStore', cases: runStoreCases },
  { port: 'RunTimers', cases: runTimersCases },
  { port: 'LaneStore', cases: laneStoreCases },
  { port: 'StepStore', cases: stepStoreCases },
  { port: 'ApprovalStore', cases: approvalStoreCases },
  { port: 'EmissionStore', cases: emissionStoreCases },
  { port: 'EventLog', cases: eventLogCases },
  { port: 'IdempotencyStore', cases: idempotencyStoreCases },
  { port: 'SessionStore', cases: sessionStoreCases },
  { port: 'ChatStore', cases: chatStoreCases },
  { port: 'TokenStore', cases: tokenStoreCases },
  { port: 'SubjectRevocationStore', cases: subjectRevocationStoreCases },
  { port: 'AuditLog', cases: auditLogCases },
  { port: 'TriggerStore', cases: triggerStoreCases },
  { port: 'FireStore', cases: fireStoreCases },
  { port: 'McpServerStore', cases: mcpServerStoreCases },
  { port: 'FactStore', cases: factStoreCases },
  { port: 'FactUpkeep', cases: factUpkeepCases },
  { port: 'BlockStore', cases: blockStoreCases },
  { port: 'MemoryConflictStore', cases: memoryConflictStoreCases },
  { port: 'JobQueue', cases: jobQueueCases },
  { port: 'ConsolidationStore', cases: consolidationStoreCases },
  { port: 'WebhookStore', cases: webhookStoreCases },
  { port: 'DeliveryStore', cases: deliveryStoreCases },
  { port: 'HookDeliveryStore', cases: hookDeliveryStoreCases },
  { port: 'FileStore', cases: fileStoreCases },
  { port: 'Storage', cases: storageCases },
]

/** Registers the suites of all ports of a storage adapter. */
export const storageContract = (harness: StorageHarness): void => registerContract(STORAGE_SUITES, harness)
