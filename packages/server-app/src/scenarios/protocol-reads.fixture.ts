/** A request: method, path, body and headers. */
export type Read = readonly [method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>]

/** The newest run of the agent `failing`, and the answer to the request that started it. */
export interface Started {
  readonly runId: string
  readonly started: string
}

interface Reads {
  readonly start: Read
  /** The requests whose answers show a run, besides `start`. Empty for an operation that shows no run. */
  readonly reads: ReadonlyArray<(run: Started) => Read>
}

const AGENT = 'failing'
const STREAM = { accept: 'application/json, text/event-stream' }

const CHAT = `/agents/${AGENT}/chat`
const chat: Read = [
  'POST',
  CHAT,
  { id: 'c', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] },
]

const AG_UI = `/agents/${AGENT}/ag-ui`
const thread: Read = [
  'POST',
  AG_UI,
  { threadId: 't', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'go' }] },
]

const completion = (stream: boolean): Read => [
  'POST',
  '/openai/chat/completions',
  { model: AGENT, stream, messages: [{ role: 'user', content: 'go' }] },
]
const response = (stream: boolean): Read => [
  'POST',
  '/openai/responses',
  { model: AGENT, stream, input: 'go', conversation: 'conv' },
]

const called = (
  path: string,
  params: object = { name: AGENT, arguments: {} },
  headers: Readonly<Record<string, string>> = {},
): Read => [
  'POST',
  path,
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  { 'mcp-protocol-version': '2025-11-25', ...headers },
]
const waited = (path: string, runId: string) => called(path, { name: 'perdure_run_wait', arguments: { runId } })
const MODERN = '2026-07-28'
const CAPABILITIES = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
const task = ({ runId }: Started): Read => {
  const params = {
    taskId: runId,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
    },
  }
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tasks/get', 'mcp-name': runId }
  return ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params }, headers]
}
const listened = ({ runId }: Started): Read => {
  const params = {
    notifications: { taskIds: [runId] },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
    },
  }
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'subscriptions/listen', ...STREAM }
  return ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }, headers]
}
/** The first cursor of a stream. */
const cursorIn = (stream: string): string => /^(?:\d+ )?id: (.*)$/m.exec(stream)?.[1] ?? ''
const resumed = (path: string) => ({
  start: called(path, undefined, STREAM),
  reads: [
    ({ started }: Started): Read => [
      'GET',
      path,
      undefined,
      { ...STREAM, 'mcp-protocol-version': '2025-11-25', 'last-event-id': cursorIn(started) },
    ],
  ],
})

const SHOWS_NO_RUN: Reads = { start: chat, reads: [] }

/** How each operation of a protocol shows the errors of a run. */
export const PROTOCOL_READS = {
  'ai-sdk.send': { start: chat, reads: [() => chat] },
  'ai-sdk.stream': {
    start: chat,
    reads: [() => ['GET', `${CHAT}/c/stream?v=7`], () => ['GET', `${CHAT}/c/stream?v=6`]],
  },
  'ai-sdk.messages': { start: chat, reads: [() => ['GET', `${CHAT}/c/messages`]] },
  // A message that waits has no error yet.
  'ai-sdk.queue': SHOWS_NO_RUN,
  'ai-sdk.stop': SHOWS_NO_RUN,
  'ai-sdk.open-ws': SHOWS_NO_RUN,
  'ag-ui.run': { start: thread, reads: [() => thread] },
  'ag-ui.capabilities': SHOWS_NO_RUN,
  'ag-ui.read': { start: thread, reads: [() => ['GET', `${AG_UI}?runId=r1&offset=-1`]] },
  'ag-ui.connect': { start: thread, reads: [() => ['GET', `${AG_UI}/r1`]] },
  'openai.models': SHOWS_NO_RUN,
  'openai.model': SHOWS_NO_RUN,
  'openai.chat-completion': { start: completion(false), reads: [() => completion(true)] },
  'openai.create-response': { start: response(false), reads: [() => response(true)] },
  'openai.get-response': {
    start: response(false),
    reads: [
      ({ runId }) => ['GET', `/openai/responses/resp_${runId}`],
      ({ runId }) => ['GET', `/openai/responses/resp_${runId}?stream=true`],
    ],
  },
  'openai.cancel-response': {
    start: response(false),
    reads: [({ runId }) => ['POST', `/openai/responses/resp_${runId}/cancel`, {}]],
  },
  'openai.response-input': SHOWS_NO_RUN,
  'openai.create-conversation': SHOWS_NO_RUN,
  'openai.get-conversation': SHOWS_NO_RUN,
  'openai.update-conversation': SHOWS_NO_RUN,
  'openai.delete-conversation': SHOWS_NO_RUN,
  'openai.conversation-items': {
    start: response(false),
    reads: [() => ['GET', '/openai/conversations/conv/items']],
  },
  'mcp-server.send': {
    start: called('/mcp'),
    reads: [({ runId }) => waited('/mcp', runId), listened, task],
  },
  'mcp-server.resume': resumed('/mcp'),
  'mcp-server.send-agent': {
    start: called(`/mcp/agents/${AGENT}`),
    reads: [({ runId }) => waited(`/mcp/agents/${AGENT}`, runId)],
  },
  'mcp-server.resume-agent': resumed(`/mcp/agents/${AGENT}`),
} as const satisfies Readonly<Record<string, Reads>>
