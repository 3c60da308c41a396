import { createHash } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { ADMIN, startedServer, WITH_TOKENS } from '../embedding/embedded-server.fixture.ts'

const tick = () => new Promise((resolve) => setTimeout(resolve, 10))

/** A server with tokens. `as` sends requests with a new token of the subject. */
async function serve() {
  const server = await startedServer({
    config: { auth: WITH_TOKENS, server: { rateLimit: { perIpRequests: 10_000 } } },
    agents: [
      {
        id: 'picker',
        description: '',
        agent: { id: 'picker', run: (_, ctx) => ctx.clientTool({ name: 'pick', args: {}, toolCallId: 'pick' }) },
      },
      { id: 'echo', description: '', agent: { id: 'echo', run: async (input) => input } },
      {
        id: 'asker',
        description: '',
        agent: { id: 'asker', run: (_, ctx) => ctx.approval('refund', { title: 'Pay?' }) },
      },
    ],
  })
  return async (subject: string, ...scopes: string[]) => {
    const { token } = await server.client(ADMIN).tokens.create({ name: 'test', subject, scopes })
    return async (path: string, body?: object, more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more }
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const response = await server.fetch(new Request(`http://localhost/v1${path}`, { headers, ...init }))
      return { status: response.status, runId: response.headers.get('x-perdure-run-id'), text: await response.text() }
    }
  }
}

let as: Awaited<ReturnType<typeof serve>>
beforeEach(async () => {
  as = await serve()
})

const callTool = (name: string, args: object, meta: object = {}) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name, arguments: args, _meta: meta },
})

const said = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })

it('shows a run over MCP only to a token that may start its agent or read the run', async () => {
  const owner = await as('alice', 'agents:invoke')
  const { runId } = JSON.parse((await owner('/agents/echo/run', { input: 'hidden words' })).text)
  const wait = callTool('perdure_run_wait', { runId })

  const narrow = await as('alice', 'memory:read')

  expect((await narrow('/mcp', wait)).text).toContain('no such run')
  expect((await narrow('/mcp', callTool('perdure_run_cancel', { runId }))).text).toContain('no such run')
  expect((await narrow('/mcp', undefined, { 'last-event-id': `${runId}~i1~~x.1` })).status).toBe(404)
  for (const [subject, scope] of [
    ['alice', 'agents:invoke:echo'],
    ['alice', 'runs:read:own'],
    ['bob', 'runs:read'],
  ] as const) {
    expect((await (await as(subject, scope))('/mcp', wait)).text).toContain('hidden words')
  }
})

it('shows a Response of OpenAI only to a token that may start its agent or read the run', async () => {
  const owner = await as('alice', 'agents:invoke')
  const { runId } = JSON.parse((await owner('/agents/echo/run', { input: 'hidden words' })).text)
  const path = `/openai/responses/resp_${runId}`

  const narrow = await as('alice', 'agents:invoke:asker')

  expect((await narrow(path)).status).toBe(404)
  expect((await narrow(`${path}/input_items`)).status).toBe(404)
  expect((await narrow(`${path}/cancel`, {})).status).toBe(404)
  expect((await (await as('alice', 'agents:invoke:echo'))(path)).text).toContain('hidden words')
  expect((await (await as('bob', 'agents:invoke:asker', 'runs:read'))(path)).text).toContain('hidden words')
})

it('does not show the run of another agent through a Chat Completion of this one', async () => {
  const owner = await as('alice', 'agents:invoke', 'approvals:resolve:own')
  const asked = await owner('/agents/asker/chat', { id: 'c', messages: [said('m', 'hi')] })
  const approvalId = String(/apr_\w+/.exec(asked.text)?.[0])
  await owner(`/approvals/${approvalId}/resolve`, { approved: true })
  await tick()
  const narrow = await as('alice', 'agents:invoke:echo')
  const call = { id: approvalId, type: 'function', function: { name: 'perdure_approval', arguments: '{}' } }
  const messages = [
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: approvalId, content: '{"approved":true}' },
  ]

  const { status, text } = await narrow('/openai/chat/completions', { model: 'echo', messages })

  expect(status).toBe(404)
  expect(text).not.toContain('"approved":true')
})

it('lists an approval over MCP only for a token that may start its agent or read approvals', async () => {
  const owner = await as('alice', 'agents:invoke')
  await owner('/agents/asker/run', {})
  const list = callTool('perdure_approvals', {})

  expect((await (await as('alice', 'memory:read'))('/mcp', list)).text).toContain('"approvals":[]')
  expect((await (await as('alice', 'agents:invoke:echo'))('/mcp', list)).text).toContain('"approvals":[]')
  expect((await (await as('bob', 'agents:invoke', 'runs:read'))('/mcp', list)).text).toContain('"approvals":[]')
  expect((await owner('/mcp', list)).text).toContain('Pay?')
  expect((await (await as('alice', 'approvals:read:own'))('/mcp', list)).text).toContain('Pay?')
  expect((await (await as('bob', 'approvals:read'))('/mcp', list)).text).toContain('Pay?')
})

it.each(['ai-sdk', 'ag-ui'])(
  'does not show the run of another agent through the chat of this one: %s',
  async (form) => {
    const owner = await as('alice', 'agents:invoke', 'approvals:resolve:own')
    const started = await owner('/agents/asker/chat', { id: 'c', messages: [said('m', 'hi')] })
    const approvalId = /apr_\w+/.exec(started.text)?.[0]
    await owner(`/approvals/${approvalId}/resolve`, { approved: true })
    await tick()
    const narrow = await as('alice', 'agents:invoke:echo')
    const part = { type: 'dynamic-tool', state: 'approval-responded', approval: { id: approvalId, approved: true } }
    const resume = [{ interruptId: approvalId, status: 'resolved', payload: { approved: true } }]

    const { text, runId } = await (form === 'ai-sdk'
      ? narrow('/agents/echo/chat', { id: 'c', messages: [{ id: 'a', role: 'assistant', parts: [part] }] })
      : narrow('/agents/echo/ag-ui', { threadId: 'c', runId: 'r', messages: [], resume }))

    expect(runId).toBeNull()
    expect(text).not.toContain('approved')
  },
)

it('gives each user a chat of their own under one id, whichever protocol reads it', async () => {
  const [alice, bob] = [await as('alice', 'agents:invoke'), await as('bob', 'agents:invoke')]
  const { runId } = await alice('/agents/echo/chat', { id: 'c', messages: [said('m', 'a secret of alice')] })
  const question = { id: 'm', role: 'user', content: 'a question of bob' }
  const ownThread = '/agents/echo/ag-ui?threadId=c'

  expect(await bob(ownThread)).toMatchObject({ status: 200, text: '{"messages":[],"activeRun":null}' })
  expect((await bob(`/agents/echo/ag-ui?runId=${runId}&offset=-1`)).status).toBe(404)
  expect((await bob('/agents/echo/chat/c/messages')).text).not.toContain('secret')
  const asked = await bob('/agents/echo/ag-ui', { threadId: 'c', runId: 'r', messages: [question] })
  expect(asked.text).not.toContain('secret')
  expect((await bob(ownThread)).text).toBe(`{"messages":[],"activeRun":{"runId":"${asked.runId}"}}`)
  expect((await alice(ownThread)).text).toBe(`{"messages":[],"activeRun":{"runId":"${runId}"}}`)
  expect((await alice(`/agents/echo/ag-ui?runId=${runId}&offset=-1`)).text).toContain('a secret of alice')
})

it.each(['', '?threadId=c&runId=r', '?runId=r&offset=3', '?threadId='])(
  'refuses to read a thread of AG-UI with the query "%s"',
  async (query) => {
    const alice = await as('alice', 'agents:invoke')
    expect(await alice(`/agents/echo/ag-ui${query}`)).toMatchObject({ status: 400 })
  },
)

it('does not answer a client tool of another agent through the chat of this one', async () => {
  const owner = await as('alice', 'agents:invoke')
  const { runId } = await owner('/agents/picker/chat', { id: 'c', messages: [said('m', 'hi')] })
  const part = { type: 'dynamic-tool', toolCallId: 'pick', state: 'output-available', output: 'red' }
  const answered = { id: 'c', messages: [{ id: `msg_${runId}`, role: 'assistant', parts: [part] }] }
  expect((await owner('/agents/picker/chat', answered)).text).toContain('finish')
  const narrow = await as('alice', 'agents:invoke:echo')

  const { text, runId: shown } = await narrow('/agents/echo/chat', answered)

  expect(shown).toBeNull()
  expect(text).not.toContain('red')
})

it('lets nobody else create a session under the derived id of a chat', async () => {
  const hash = BigInt(`0x${createHash('sha256').update('boss\0chat').digest('hex')}`)
  const id = `x${(hash >> 126n).toString(32).padStart(26, '0')}`
  const mallory = await as('mallory', 'sessions:write:own', 'sessions:read:own')
  expect((await mallory('/sessions', { id })).status).toBe(409)
  const boss = await as('boss', 'admin:*')

  const send = (messageId: string, text: string) =>
    boss('/agents/echo/chat', { id: 'chat', messages: [said(messageId, text)] })
  await send('m1', 'first secret')
  await send('m2', 'second secret')

  expect((await mallory(`/sessions/${id}/messages`)).status).toBe(404)
  const { text } = await boss('/agents/echo/chat/chat/messages')
  expect(text).toContain('first secret')
  expect(text).toContain('second secret')
})

it('starts one run for concurrent AG-UI requests with one run id', async () => {
  const alice = await as('alice', 'agents:invoke')
  const send = (threadId: string, ...texts: string[]) =>
    alice('/agents/echo/ag-ui', {
      ...{ threadId, runId: 'r1' },
      messages: texts.map((content, n) => ({ id: `m${n}`, role: 'user', content })),
    })

  const answers = await Promise.all([send('t', 'hi'), send('t', 'hi'), send('t', 'hi')])
  const other = await send('other', 'hi')

  expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1)
  expect(answers.every(({ text }) => text.includes('RUN_FINISHED'))).toBe(true)
  expect(answers[0]?.runId).not.toBe(other.runId)
})

it('takes one of two different messages that concurrent AG-UI requests send under one run id', async () => {
  const alice = await as('alice', 'agents:invoke')
  const send = (id: string) =>
    alice('/agents/echo/ag-ui', { threadId: 't', runId: 'r1', messages: [{ id, role: 'user', content: id }] })

  const answers = await Promise.all([send('first'), send('second')])

  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  expect(answers.find(({ status }) => status === 409)?.text).toContain('idempotency-conflict')
  const { items } = JSON.parse((await (await as('boss', 'admin:*'))('/runs')).text)
  expect(items).toHaveLength(1)
})

it('starts one run for MCP calls with one idempotency key, in the header or in _meta', async () => {
  const alice = await as('alice', 'agents:invoke')
  const call = (text: string, key: string) => alice('/mcp', callTool('echo', { text }), { 'idempotency-key': key })
  const [first, again, other] = [await call('a', 'k1'), await call('a', 'k1'), await call('a', 'k2')]
  const inMeta = await alice('/mcp', callTool('echo', { text: 'a' }, { 'perdure/idempotencyKey': 'k1' }))

  expect([again.runId, inMeta.runId]).toEqual([first.runId, first.runId])
  expect(other.runId).not.toBe(first.runId)
  expect((await call('b', 'k1')).text).toContain('idempotency-conflict')
  for (const key of ['', 'é', 'x'.repeat(256)]) {
    const { text } = await alice('/mcp', callTool('echo', { text: 'a' }, { 'perdure/idempotencyKey': key }))
    expect(text).toContain('idempotency-key-invalid')
  }
  expect((await call('a', 'a b')).text).toContain('idempotency-key-invalid')
})
