import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { ConsolidateRequest, Consolidator, DeadLetter, QueuedJobs } from '../resources/consolidator.ts'
import { listOf, PageEntries } from '../resources/list.ts'

export const consolidatorOperations = {
  getConsolidator: {
    id: 'consolidator.get',
    method: 'GET',
    path: '/consolidator',
    scope: 'consolidator:read',
    idempotent: false,
    responses: {
      200: { schema: Consolidator, description: 'The queue, the dead letters and the remaining budget for today.' },
    },
    errors: [],
    summary: 'Read the state of the consolidator.',
  },
  runConsolidator: {
    id: 'consolidator.run',
    method: 'POST',
    path: '/consolidator/run',
    scope: 'consolidator:write',
    idempotent: true,
    body: ConsolidateRequest,
    responses: { 202: { schema: QueuedJobs, description: 'Ids of the queued jobs.' } },
    errors: ['session-not-found', 'server-draining'],
    summary: 'Queue consolidation jobs now.',
  },
  listDeadLetters: {
    id: 'consolidator.dead-letters',
    method: 'GET',
    path: '/consolidator/dead-letters',
    scope: 'consolidator:read',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(DeadLetter), description: 'Jobs that failed for good, newest first.' } },
    errors: [],
    summary: 'List dead letters.',
  },
  retryDeadLetter: {
    id: 'consolidator.retry',
    method: 'POST',
    path: '/consolidator/dead-letters/:deadLetterId/retry',
    scope: 'consolidator:write',
    idempotent: true,
    responses: { 202: { schema: QueuedJobs, description: 'Id of the requeued job.' } },
    errors: ['dead-letter-not-found', 'server-draining'],
    summary: 'Requeue a dead letter.',
  },
} as const satisfies OperationTable
