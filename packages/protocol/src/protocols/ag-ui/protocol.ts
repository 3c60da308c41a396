import type { OperationTable } from '../../operation.ts'
import { RUN_REFUSALS } from '../../operations/agents.ts'
import { DECIDE, DECISION_REFUSALS } from '../../operations/approvals.ts'
import { RUN_SIGHT } from '../../operations/runs.ts'
import type { Protocol } from '../protocol.ts'
import * as schemas from './schemas.ts'
import { AgUiCapabilities, AgUiQuery, AgUiRequest, AgUiThread } from './schemas.ts'

const AG_UI = { scope: 'agents:invoke:{agentId}', sight: RUN_SIGHT } as const

const operations = {
  runAgUi: {
    ...AG_UI,
    id: 'ag-ui.run',
    mayNeed: DECIDE,
    method: 'POST',
    path: '/agents/:agentId/ag-ui',
    idempotent: true,
    body: AgUiRequest,
    sendsHistory: true,
    responses: {
      200: {
        stream: 'event-stream',
        description: 'The events of the run. The stream ends when the run ends or waits for its client.',
      },
    },
    errors: [
      ...RUN_REFUSALS,
      'file-quota-exceeded',
      'run-not-found',
      'run-not-suspended',
      'run-not-active',
      ...DECISION_REFUSALS,
      'overloaded',
    ],
    summary: 'Run an agent for an AG-UI client, or answer the interrupts of its run.',
  },
  readAgUi: {
    ...AG_UI,
    id: 'ag-ui.read',
    method: 'GET',
    path: '/agents/:agentId/ag-ui',
    polls: true,
    idempotent: false,
    query: AgUiQuery,
    responses: {
      200: {
        schema: AgUiThread,
        stream: 'event-stream',
        description:
          'With `threadId`, the newest run of the thread. With `runId`, the output of the run so far, then live events.',
      },
    },
    errors: ['agent-not-found', 'run-not-found', 'overloaded'],
    summary: 'Read a thread, or follow a run, with a client that has one URL for everything.',
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

export const agUi = {
  group: 'ag-ui',
  summary: 'AG-UI: `HttpAgent`, and front ends that are based on it, work with every agent.',
  mounts: 'Mount the AG-UI routes of each agent, below `/agents/:agentId/ag-ui`.',
  operations,
  schemas,
  // The client of TanStack repeats the id of its run here.
  headers: { sent: ['X-Run-Id'] },
} as const satisfies Protocol
