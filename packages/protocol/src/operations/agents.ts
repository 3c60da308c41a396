import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { AbortedRuns, Agent, AgentState } from '../resources/agents.ts'
import { listOf, PageEntries } from '../resources/list.ts'
import { RunOutcome } from '../resources/run-outcome.ts'
import { AbortRequest, RunRequest } from '../resources/run-requests.ts'
import { RUN_SIGHT } from './runs.ts'

export const RUN_REFUSALS = [
  'agent-not-found',
  'session-not-found',
  'file-not-found',
  'invalid-input',
  'version-unknown',
  'agent-busy',
  'queue-full',
  'quota-exceeded',
  'server-draining',
] as const

export const agentOperations = {
  listAgents: {
    id: 'agents.list',
    method: 'GET',
    path: '/agents',
    scope: 'agents:read',
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(Agent), description: 'The registered agents, by id.' } },
    errors: [],
    summary: 'List agents.',
  },
  getAgent: {
    id: 'agents.get',
    method: 'GET',
    path: '/agents/:agentId',
    scope: 'agents:read:{agentId}',
    idempotent: false,
    responses: { 200: { schema: Agent, description: 'The agent.' } },
    errors: ['agent-not-found'],
    summary: 'Describe an agent.',
  },
  runAgent: {
    id: 'agents.run',
    method: 'POST',
    path: '/agents/:agentId/run',
    scope: 'agents:invoke:{agentId}',
    idempotent: true,
    body: RunRequest,
    responses: {
      200: {
        schema: RunOutcome,
        description: 'The outcome of the run, whether completed, failed, aborted or suspended.',
      },
      202: {
        schema: RunOutcome,
        location: true,
        description: 'Accepted: the request has Prefer: respond-async, or wait=N has elapsed.',
      },
    },
    errors: RUN_REFUSALS,
    summary: 'Run an agent and return its outcome.',
  },
  streamAgent: {
    id: 'agents.stream',
    method: 'POST',
    path: '/agents/:agentId/stream',
    scope: 'agents:invoke:{agentId}',
    idempotent: true,
    body: RunRequest,
    responses: {
      200: { stream: 'event-stream', description: 'The events of the run, with Accept: text/event-stream.' },
      202: {
        schema: RunOutcome,
        location: true,
        description:
          'Accepted: follow the subject or the links. Also the response to Accept: text/event-stream when no stream is available.',
      },
    },
    errors: RUN_REFUSALS,
    summary: 'Start an agent and follow its events.',
  },
  getAgentState: {
    id: 'agents.state',
    method: 'GET',
    path: '/agents/:agentId/state',
    scope: 'agents:read:{agentId}',
    idempotent: false,
    responses: { 200: { schema: AgentState, description: 'Numbers of running and queued runs.' } },
    errors: ['agent-not-found'],
    summary: 'Count the running and queued runs of an agent.',
  },
  abortAgent: {
    id: 'agents.abort',
    method: 'POST',
    path: '/agents/:agentId/abort',
    scope: 'agents:invoke:{agentId}',
    sight: RUN_SIGHT,
    idempotent: true,
    body: AbortRequest,
    responses: {
      202: { schema: AbortedRuns, description: 'The ids of the aborted runs.' },
    },
    errors: ['agent-not-found'],
    summary: 'Abort all runs of an agent, limited to the runs that the caller can see.',
  },
} as const satisfies OperationTable
