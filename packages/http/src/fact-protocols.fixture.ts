import type { Paths, Waiting } from './fact.fixture.ts'

const START = 'agents:invoke'
const DECIDE = 'approvals:resolve'

const said = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
const aiSdk = {
  start: (agent: string) => [`/agents/${agent}/chat`, { id: 'c', messages: [said] }] as const,
  send: (agent: string, message: (waiting: Waiting) => object) => (waiting: Waiting) =>
    [`/agents/${agent}/chat`, { id: 'c', messages: [said, message(waiting)] }] as const,
}

const thread = { threadId: 't', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'go' }] }
const agUi = {
  start: (agent: string) => [`/agents/${agent}/ag-ui`, thread] as const,
  send: (agent: string, resume: (waiting: Waiting) => object) => (waiting: Waiting) =>
    [`/agents/${agent}/ag-ui`, { ...thread, runId: 'r2', ...resume(waiting) }] as const,
}

const PICK = { type: 'function', function: { name: 'pick', parameters: {} } }
const completion = (agent: string, messages: readonly object[]) =>
  [
    '/openai/chat/completions',
    { model: agent, tools: [PICK], messages: [{ role: 'user', content: 'go' }, ...messages] },
  ] as const
const completed = (agent: string, idOf: (waiting: Waiting) => string, content: string) => (waiting: Waiting) =>
  completion(agent, [
    {
      role: 'assistant',
      tool_calls: [{ id: idOf(waiting), type: 'function', function: { name: 'pick', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: idOf(waiting), content },
  ])

const response = (agent: string, input: unknown, more: object = {}) =>
  ['/openai/responses', { model: agent, tools: [{ ...PICK.function, type: 'function' }], input, ...more }] as const
const responded = (agent: string, item: (waiting: Waiting) => object) => (waiting: Waiting) =>
  response(agent, [item(waiting)], { previous_response_id: `resp_${waiting.runId}` })

const called = (path: string, agent: string) =>
  [path, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: agent, arguments: {} } }] as const
const elicited = (path: string, idOf: (waiting: Waiting) => string, content: object) => (waiting: Waiting) =>
  [path, { jsonrpc: '2.0', id: idOf(waiting), result: { action: 'accept', content } }] as const

/** The facts that clients of other protocols bring, in the requests of those protocols. */
export const PROTOCOL_PATHS = {
  'ai-sdk.send': {
    decision: {
      needs: [START, DECIDE],
      start: aiSdk.start,
      send: aiSdk.send('decision', ({ runId, approvalId }) => ({
        ...{ id: `msg_${runId}`, role: 'assistant' },
        parts: [{ type: 'dynamic-tool', state: 'approval-responded', approval: { id: approvalId, approved: true } }],
      })),
    },
    tool: {
      needs: [START],
      start: aiSdk.start,
      send: aiSdk.send('tool', ({ runId }) => ({
        ...{ id: `msg_${runId}`, role: 'assistant' },
        parts: [{ type: 'dynamic-tool', toolCallId: 'pick', state: 'output-available', output: 'red' }],
      })),
    },
    resumption: {
      needs: [START],
      start: aiSdk.start,
      send: aiSdk.send('resumption', () => ({ ...said, id: 'm2' })),
    },
  },
  'ag-ui.run': {
    decision: {
      needs: [START, DECIDE],
      start: agUi.start,
      send: agUi.send('decision', ({ approvalId }) => ({
        resume: [{ interruptId: approvalId, status: 'resolved', payload: { approved: true } }],
      })),
    },
    tool: {
      needs: [START],
      start: agUi.start,
      send: agUi.send('tool', () => ({
        messages: [{ id: 't1', role: 'tool', toolCallId: 'pick', content: '"red"' }],
      })),
    },
    resumption: {
      needs: [START],
      start: agUi.start,
      send: agUi.send('resumption', ({ runId }) => ({
        resume: [{ interruptId: `${runId}.resume`, status: 'resolved', payload: 'paid' }],
      })),
    },
  },
  'openai.chat-completion': {
    decision: {
      needs: [START, DECIDE],
      start: (agent) => completion(agent, []),
      send: completed('decision', ({ approvalId }) => approvalId, '{"approved":true}'),
    },
    tool: {
      needs: [START],
      start: (agent) => completion(agent, []),
      send: completed('tool', ({ runId }) => `${runId}.c:pick`, '"red"'),
    },
  },
  'openai.create-response': {
    decision: {
      needs: [START, DECIDE],
      start: (agent) => response(agent, 'go'),
      send: responded('decision', ({ approvalId }) => ({
        ...{ type: 'mcp_approval_response', approval_request_id: `mcpr_${approvalId}`, approve: true },
      })),
    },
    tool: {
      needs: [START],
      start: (agent) => response(agent, 'go'),
      send: responded('tool', ({ runId }) => ({
        ...{ type: 'function_call_output', call_id: `${runId}.c:pick`, output: '"red"' },
      })),
    },
  },
  'mcp-server.send': {
    decision: {
      needs: [DECIDE],
      start: (agent) => called('/mcp', agent),
      send: elicited('/mcp', ({ approvalId }) => approvalId, { approved: true }),
    },
    resumption: {
      needs: [START],
      start: (agent) => called('/mcp', agent),
      send: elicited('/mcp', ({ runId }) => `pause_1_${runId}`, { text: 'paid' }),
    },
  },
  'mcp-server.send-agent': {
    decision: {
      needs: [START, DECIDE],
      start: (agent) => called(`/mcp/agents/${agent}`, agent),
      send: elicited('/mcp/agents/decision', ({ approvalId }) => approvalId, { approved: true }),
    },
    resumption: {
      needs: [START],
      start: (agent) => called(`/mcp/agents/${agent}`, agent),
      send: elicited('/mcp/agents/resumption', ({ runId }) => `pause_1_${runId}`, { text: 'paid' }),
    },
  },
} as const satisfies Readonly<Record<string, Paths>>
