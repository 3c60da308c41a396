import type { AgentRegistration } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

/** The members of answers that the tests read. */
interface Read {
  readonly items: ReadonlyArray<{ readonly id: string; readonly toolCallId?: string }>
  readonly result: {
    readonly structuredContent: { readonly approvals: ReadonlyArray<{ readonly approvalId: string }> }
  }
}

const asks: AgentRegistration = {
  id: 'asks',
  description: 'Asks once.',
  agent: { id: 'asks', run: async (_, { approval }) => (await approval('publish')).approved },
}

/** A server on which the agent `asks` waits for a decision. */
async function waiting() {
  const server = await startedServer({ agents: [asks] })
  const send = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.fetch(
      new Request(`http://localhost/v1${path}`, {
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      }),
    )
  const read = async (response: Promise<Response>) => (await (await response).json()) as Read
  const entries = async () => (await read(send('/audit?order=asc&limit=200'))).items
  return { send, read, entries }
}

const ENTRY = {
  action: 'approvals.resolve',
  decision: 'allowed',
  method: 'POST',
  requestId: 'r7',
}

const approvedBy = (via: string) => ({ detail: { approved: true, via } })

describe('a decision that comes through another protocol', () => {
  it('is audited with its request when it answers an elicitation of MCP', async () => {
    const { send, read, entries } = await waiting()
    const called = read(send('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'asks' } }))
    const id = (await called).result.structuredContent.approvals[0]?.approvalId
    const answer = { jsonrpc: '2.0', id, result: { action: 'accept', content: { approved: true } } }

    expect((await send('/mcp', answer, { 'x-request-id': 'r7' })).status).toBe(202)

    expect(await entries()).toEqual([
      expect.objectContaining({ ...ENTRY, ...approvedBy('mcp'), route: '/v1/mcp', target: id }),
    ])
  })

  it('is audited with its request when it is sent in a message of the AI SDK', async () => {
    const { send, read, entries } = await waiting()
    const text = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
    await (await send('/agents/asks/chat', { id: 'c1', messages: [text] })).text()
    const approvals = (await read(send('/approvals'))).items
    const [{ id, toolCallId } = {}] = approvals
    const part = { type: 'dynamic-tool', toolName: 'publish', toolCallId, state: 'approval-responded', input: {} }
    const answer = { id: 'a1', role: 'assistant', parts: [{ ...part, approval: { id, approved: true } }] }

    await (await send('/agents/asks/chat', { id: 'c1', messages: [text, answer] }, { 'x-request-id': 'r7' })).text()

    expect(await entries()).toEqual([
      expect.objectContaining({ ...ENTRY, ...approvedBy('ai-sdk'), route: '/v1/agents/:agentId/chat', target: id }),
    ])
  })

  it('is audited with its request when it answers an interrupt of AG-UI', async () => {
    const { send, read, entries } = await waiting()
    const run = { threadId: 't1', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'go' }] }
    await (await send('/agents/asks/ag-ui', run)).text()
    const [{ id } = {}] = (await read(send('/approvals'))).items
    const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }]

    await (await send('/agents/asks/ag-ui', { ...run, runId: 'r2', resume }, { 'x-request-id': 'r7' })).text()

    expect(await entries()).toEqual([
      expect.objectContaining({ ...ENTRY, ...approvedBy('ag-ui'), route: '/v1/agents/:agentId/ag-ui', target: id }),
    ])
  })
})
