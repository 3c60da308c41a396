import { EVERY_ROW } from '@perdure/ports'
import { OPERATION_TABLES, type Operation, PROTOCOLS } from '@perdure/protocol'
import { expect, it } from 'vitest'
import { jwtOf, startJwtServer } from './jwt-server.fixture.ts'

const OPERATIONS: readonly Operation[] = [
  ...Object.values(OPERATION_TABLES),
  ...Object.values(PROTOCOLS).map(({ operations }) => operations),
].flatMap((table) => Object.values<Operation>(table))

/** They show a recorded run. */
const REPLAYS = ['runs.replay', 'sessions.replay']

const STARTS = OPERATIONS.filter(
  ({ id, method, responses }) =>
    method === 'POST' && responses[200]?.stream === 'event-stream' && !REPLAYS.includes(id),
)

const MESSAGES = [{ role: 'user', content: 'hi' }]
const CALL_TOOL = { method: 'tools/call', params: { name: 'echo', arguments: { input: 'hi' } } }

/** Requests to each operation that start the agent `echo`. */
const REQUESTS: Readonly<Record<string, readonly object[]>> = {
  'agents.stream': [{ input: 'hi' }],
  'ai-sdk.send': [{ id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] }],
  'ag-ui.run': [
    { threadId: 't', runId: 'r', messages: [{ id: 'm', ...MESSAGES[0] }], tools: [], context: [], state: {} },
  ],
  'openai.chat-completion': [
    { model: 'echo', stream: true, messages: MESSAGES },
    { model: 'echo', messages: MESSAGES },
  ],
  'openai.create-response': [
    { model: 'echo', stream: true, input: 'hi' },
    { model: 'echo', input: 'hi' },
  ],
  'mcp-server.send': [{ jsonrpc: '2.0', id: 1, ...CALL_TOOL }],
  'mcp-server.send-agent': [{ jsonrpc: '2.0', id: 1, ...CALL_TOOL }],
}

const isWorkflow = ({ path }: Operation) => path.startsWith('/workflows/')

it.each(
  STARTS.filter((one) => !isWorkflow(one)).flatMap((one) =>
    (REQUESTS[one.id] ?? [undefined]).map((body) => [one.id, body, one] as const),
  ),
)(
  '%s with %j starts no run if it is refused because too many streams are open, and one once a stream has ended',
  async (id, body, { path }) => {
    expect(body, `add a request to ${id}`).toBeDefined()
    const { call, storage } = await startJwtServer({ config: { realtime: { maxSseStreamsPerToken: 1 } } })
    const runsOfEcho = async () =>
      (await storage.runs.list({ targetId: 'echo' }, { limit: 9, order: 'asc' }, EVERY_ROW)).items.length
    const open = await call(jwtOf(), '/agents/slow/stream', {
      body: { input: 'hi' },
      headers: { accept: 'text/event-stream' },
    })
    expect(open.status).toBe(200)
    const send = () =>
      call(jwtOf(), path.replace(':agentId', 'echo'), {
        body: body as object,
        headers: { accept: 'application/json, text/event-stream' },
      })

    const refused = await send()
    await refused.text()
    expect(await runsOfEcho()).toBe(refused.ok ? 1 : 0)

    await open.body?.cancel()
    await expect
      .poll(async () => {
        const response = await send()
        await response.text()
        return response.status
      })
      .toBeLessThan(300)
    expect(await runsOfEcho()).toBeGreaterThan(0)
    // The places of the refused and of the answered requests are free again.
    const last = await send()
    await last.text()
    expect(last.status).toBeLessThan(300)
  },
)
