import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'
import { Agent, AgentState } from '../resources/agents.ts'
import { listOf, PageEntries } from '../resources/list.ts'
import { AbortRequest, RunOutcome, RunRequest } from '../resources/runs.ts'
import { RUN_SIGHT } from './runs.ts'

const RUN_REFUSALS = [
  'agent-not-found',
  'session-not-found',
  'invalid-input',
  'agent-busy',
  'queue-full',
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
      200: { schema: RunOutcome, description: 'What the run came to: completed, failed, aborted or suspended alike.' },
      202: {
        schema: RunOutcome,
        location: true,
        description: 'Accepted; with Prefer: respond-async, or when wait=N has passed.',
      },
    },
    errors: RUN_REFUSALS,
    summary: 'Run an agent and answer its outcome.',
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
          'Accepted; follow the subject or the links. Also with Accept: text/event-stream when no stream is free.',
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
    responses: { 200: { schema: AgentState, description: 'How many of its runs execute and wait.' } },
    errors: ['agent-not-found'],
    summary: 'See what an agent is doing.',
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
      202: { schema: v.object({ aborted: v.array(v.string()) }), description: 'The ids of the aborted runs.' },
    },
    errors: ['agent-not-found'],
    summary: 'Abort all runs of an agent that the caller sees.',
  },
} as const satisfies OperationTable
