import type { OperationTable } from '../operation.ts'
import { AgUiCapabilities, AgUiRequest } from '../resources/ag-ui.ts'
import { RUN_REFUSALS } from './agents.ts'
import { DECIDE } from './approvals.ts'
import { RUN_SIGHT } from './runs.ts'

const AG_UI = { scope: 'agents:invoke:{agentId}', sight: RUN_SIGHT, dialect: 'ag-ui' } as const

/** The protocol AG-UI, with Server-Sent Events. */
export const agUiOperations = {
  runAgUi: {
    ...AG_UI,
    id: 'ag-ui.run',
    mayNeed: DECIDE,
    method: 'POST',
    path: '/agents/:agentId/ag-ui',
    idempotent: true,
    body: AgUiRequest,
    responses: {
      200: {
        stream: 'event-stream',
        description: 'The events of the run. The stream ends when the run ends or waits for its client.',
      },
    },
    errors: [
      ...RUN_REFUSALS,
      'run-not-found',
      'run-not-suspended',
      'run-not-active',
      'approval-not-found',
      'approval-resolved',
      'overloaded',
    ],
    summary: 'Run an agent for an AG-UI client, or answer the interrupts of its run.',
  },
  getAgUiCapabilities: {
    ...AG_UI,
    id: 'ag-ui.capabilities',
    method: 'GET',
    path: '/agents/:agentId/ag-ui/capabilities',
    idempotent: false,
    responses: { 200: { schema: AgUiCapabilities, description: 'The capabilities.' } },
    errors: ['agent-not-found'],
    summary: 'Read the capabilities of an agent for AG-UI clients.',
  },
  connectAgUi: {
    ...AG_UI,
    id: 'ag-ui.connect',
    method: 'GET',
    path: '/agents/:agentId/ag-ui/:runId',
    polls: true,
    idempotent: false,
    responses: {
      200: {
        stream: 'event-stream',
        description: 'The output of the run so far, or the events after Last-Event-ID; then live events.',
      },
    },
    errors: ['agent-not-found', 'run-not-found', 'overloaded'],
    summary: 'Reconnect to a run as an AG-UI client.',
  },
} as const satisfies OperationTable
