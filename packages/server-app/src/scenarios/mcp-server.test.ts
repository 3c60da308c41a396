import type { AgentRegistration, RegistrationOptions } from '@perdure/core'
import type { ServerConfigInput } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { ADMIN, startedServer, WITH_TOKENS } from '../embedding/embedded-server.fixture.ts'

const MODERN = '2026-07-28'

const agentOf = (id: string, more: Partial<RegistrationOptions> = {}): AgentRegistration => ({
  ...{ id, description: '', agent: { id, run: async () => `from ${id}` } },
  ...more,
})

/** What the tests read of an answer. */
interface Read {
  readonly result?: {
    readonly tools?: ReadonlyArray<{ readonly name: string }>
    readonly content?: ReadonlyArray<{ readonly text: string }>
    readonly _meta?: Readonly<Record<string, string>>
  }
  readonly error?: { readonly code: number; readonly data?: { readonly code?: string; readonly hint?: string } }
}

/** A server with the agents `one`, `two` and `hidden`. `as` sends messages with a new token. */
async function serve(config: ServerConfigInput = {}) {
  const agents = [agentOf('one'), agentOf('two'), agentOf('hidden', { protocols: { mcp: false } })]
  const server = await startedServer({ agents, config: { auth: WITH_TOKENS, ...config } })
  return async (...scopes: string[]) => {
    const { token } = await server.client(ADMIN).tokens.create({ name: 'test', subject: 'alice', scopes })
    const send = async (path: string, init: RequestInit, more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more }
      const response = await server.fetch(new Request(`http://localhost/v1${path}`, { ...init, headers }))
      const text = await response.text()
      return { status: response.status, text, ...(text.startsWith('{') ? (JSON.parse(text) as Read) : {}) }
    }
    const post = (path: string, method: string, params: object = {}, more: Record<string, string> = {}) =>
      send(path, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) }, more)
    return {
      post,
      call: (path: string, name: string, more: object = {}, headers: Record<string, string> = {}) =>
        post(path, 'tools/call', { name, arguments: { text: 'hi' }, ...more }, headers),
      resume: (path: string, lastEventId: string) => send(path, { method: 'GET' }, { 'last-event-id': lastEventId }),
    }
  }
}

const RUN_TOOLS = ['perdure_approvals', 'perdure_run_cancel', 'perdure_run_wait']
const toolsOf = ({ result }: Read) => result?.tools?.map(({ name }) => name)

describe('the MCP server of one agent', () => {
  it('lists and calls this agent, and no other', async () => {
    const { post, call } = await (await serve())('agents:invoke')

    expect(toolsOf(await post('/mcp/agents/one', 'tools/list'))).toEqual(['one', ...RUN_TOOLS])
    expect(toolsOf(await post('/mcp', 'tools/list'))).toEqual(['one', ...RUN_TOOLS, 'two'])
    expect((await call('/mcp/agents/one', 'one')).result?.content?.[0]?.text).toBe('from one')
    expect((await call('/mcp/agents/one', 'two')).error?.code).toBe(-32602)
  })

  it('demands the scope of the agent, and knows no hidden or unknown one', async () => {
    const as = await serve()
    const narrow = await as('agents:invoke:two')
    const wide = await as('agents:invoke')

    expect((await narrow.post('/mcp/agents/one', 'tools/list')).status).toBe(403)
    for (const agentId of ['hidden', 'unknown']) {
      expect(await wide.post(`/mcp/agents/${agentId}`, 'tools/list')).toMatchObject({
        status: 404,
        error: { data: { code: 'agent-not-found' } },
      })
    }
  })

  it('resumes the answers of this agent only', async () => {
    const { call, resume } = await (await serve())('agents:invoke')
    const accept = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }
    const streamed = await call('/mcp/agents/one', 'one', {}, accept)
    const [, cursor = ''] = /^id: (.*)$/m.exec(streamed.text) ?? []

    expect((await resume('/mcp/agents/one', cursor)).text).toContain('from one')
    expect((await resume('/mcp/agents/two', cursor)).status).toBe(404)
  })
})

describe('a server that requires idempotency keys', () => {
  const ENFORCING = { server: { port: 1, idempotency: { requireKey: 'enforce' } } } as const
  const VIA_META = { _meta: { 'perdure/idempotencyKey': 'k1' } }

  it('refuses a call that would start a run without one, in both versions of the protocol', async () => {
    const { call } = await (await serve(ENFORCING))('agents:invoke')
    const refused = { status: 400, error: { data: { code: 'idempotency-key-required' } } }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'one' }

    const legacy = await call('/mcp', 'one')
    expect(legacy).toMatchObject(refused)
    expect(legacy.error?.data?.hint).toContain('perdure/idempotencyKey')
    expect(await call('/mcp', 'one', { _meta }, headers)).toMatchObject(refused)
  })

  it('takes the key from the message or the header, and no key for what starts no run', async () => {
    const { post, call } = await (await serve(ENFORCING))('agents:invoke')
    const first = await call('/mcp', 'one', VIA_META)
    const again = await call('/mcp', 'one', {}, { 'idempotency-key': 'k1' })
    const runId = first.result?._meta?.['perdure/runId']

    expect(first.result?.content?.[0]?.text).toBe('from one')
    expect(again.result?._meta?.['perdure/runId']).toBe(runId)
    expect(toolsOf(await post('/mcp', 'tools/list'))).toContain('one')
    expect((await call('/mcp', 'perdure_run_wait', { arguments: { runId } })).result?.content?.[0]?.text).toBe(
      'from one',
    )
  })

  it('refuses a malformed key as an error of the request', async () => {
    const { call } = await (await serve())('agents:invoke')

    expect(await call('/mcp', 'one', { _meta: { 'perdure/idempotencyKey': '' } })).toMatchObject({
      status: 400,
      error: { data: { code: 'idempotency-key-invalid' } },
    })
  })
})
