import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { createToken } from '../perdure-process.ts'
import { unusedPort } from '../unused-port.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/mcp.config.mjs')
const VERSION = '2026-07-28'
const JSON_AND_EVENTS = 'application/json, text/event-stream'

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, { E2E_PORT: String(await unusedPort()) }, (end) => {
    kill = end
  })
})
afterAll(() => kill())

interface Message {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown> & {
    readonly taskId?: string
    readonly status?: string
    readonly _meta?: Record<string, unknown>
  }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

interface Sending {
  readonly token?: string
  readonly headers?: Record<string, string>
}

const post = (body: unknown, { token = server.token, headers = {} }: Sending = {}) =>
  fetch(`${server.url()}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

interface Listening {
  readonly token?: string
  readonly capabilities?: object
}

const EXTENSIONS = { 'io.modelcontextprotocol/tasks': {} }

/** Sends a request of the version without a handshake. */
async function ask(method: string, params: Record<string, unknown>, capabilities: object, more: Sending = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const name = params.taskId ?? params.name
  const headers = {
    ...{ 'mcp-protocol-version': VERSION, 'mcp-method': method, ...more.headers },
    ...(name === undefined ? {} : { 'mcp-name': String(name) }),
  }
  const response = await post({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } }, { ...more, headers })
  return { status: response.status, ...((await response.json()) as Message) }
}

const WITH_TASKS = { elicitation: {}, extensions: EXTENSIONS }

describe('tasks', () => {
  const startTask = async (name: string) => {
    const { result } = await ask('tools/call', { name, arguments: { text: 'task.' } }, WITH_TASKS)
    return { taskId: String(result?.taskId), created: result }
  }
  const read = async (taskId: string) => (await ask('tasks/get', { taskId }, WITH_TASKS)).result

  it('answers a call that ends at once with its result', async () => {
    const { result } = await ask('tools/call', { name: 'adder', arguments: { a: 1, b: 2 } }, WITH_TASKS)
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { sum: 3 } })
  })

  it('becomes a task that waits for a decision, takes it, and completes', async () => {
    const { taskId, created } = await startTask('approver')
    expect(created).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^run_/),
      ttlMs: null,
      pollIntervalMs: 1_000,
    })
    await eventually(async () => (await read(taskId))?.status).toBe('input_required')
    const [approvalId = ''] = Object.keys((await read(taskId))?.inputRequests as object)

    const malformed = await ask(
      'tasks/update',
      { taskId, inputResponses: { [approvalId]: { action: 'accept', content: { approved: 'yes' } } } },
      WITH_TASKS,
    )
    expect(malformed.error?.code).toBe(-32602)
    expect((await read(taskId))?.status).toBe('input_required')

    const inputResponses = { [approvalId]: { action: 'accept', content: { approved: true } } }
    expect((await ask('tasks/update', { taskId, inputResponses }, WITH_TASKS)).result).toMatchObject({
      resultType: 'complete',
    })
    await eventually(async () => (await read(taskId))?.status).toBe('completed')
    expect((await server.run(taskId)).result).toBe('refunded')
  })

  it('is cancelled, also twice', async () => {
    const { taskId } = await startTask('gated')
    for (let time = 0; time < 2; time++) {
      expect((await ask('tasks/cancel', { taskId }, WITH_TASKS)).result).toMatchObject({ resultType: 'complete' })
    }
    expect((await read(taskId))?.status).toBe('cancelled')
  })

  it('is unknown to another subject, and refused to a client that has not declared tasks', async () => {
    const { taskId } = await startTask('gated')
    const token = await createToken(server.sandbox, 'agents:invoke', 'another')
    expect(await ask('tasks/get', { taskId }, WITH_TASKS, { token })).toMatchObject({ error: { code: -32602 } })
    expect(await ask('tasks/get', { taskId }, {})).toMatchObject({ status: 400, error: { code: -32021 } })
    await ask('tasks/cancel', { taskId }, WITH_TASKS)
  })
})

describe('a subscription to tasks', () => {
  interface Notification {
    readonly method?: string
    readonly id?: unknown
    readonly params: {
      readonly _meta: object
      readonly taskId?: string
      readonly status?: string
      readonly notifications?: unknown
    }
    readonly result?: object
  }
  const SUBSCRIPTION = { 'io.modelcontextprotocol/subscriptionId': 7 }

  const listen = async (notifications: unknown, { token, capabilities = WITH_TASKS }: Listening = {}) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    }
    const method = 'subscriptions/listen'
    const headers = { accept: JSON_AND_EVENTS, 'mcp-protocol-version': VERSION, 'mcp-method': method }
    const body = { jsonrpc: '2.0', id: 7, method, params: { notifications, _meta } }
    return post(body, { headers, ...(token === undefined ? {} : { token }) })
  }

  /** The messages of a stream, as they arrive. `isOver`: the connection has ended. */
  const messagesOf = (response: Response) => {
    const messages: Notification[] = []
    const state = { messages, isOver: false }
    const read = async () => {
      let text = ''
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += part
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) if (block.startsWith('data: ')) messages.push(JSON.parse(block.slice(6)))
      }
    }
    void read()
      .catch(() => undefined)
      .finally(() => {
        state.isOver = true
      })
    return state
  }

  const startTask = async (name: string, text: string) =>
    String((await ask('tools/call', { name, arguments: { text } }, WITH_TASKS)).result?.taskId)
  const statusesOf = (messages: readonly Notification[], taskId: string) =>
    messages.flatMap(({ params }) => (params?.taskId === taskId ? [params.status] : []))
  const withoutMeta = ({ _meta: _, resultType: __, ...task }: Record<string, unknown>) => task
  const decide = async (taskId: string) => {
    const { result } = await ask('tasks/get', { taskId }, WITH_TASKS)
    const [approvalId = ''] = Object.keys(result?.inputRequests as object)
    const inputResponses = { [approvalId]: { action: 'accept', content: { approved: true } } }
    await ask('tasks/update', { taskId, inputResponses }, WITH_TASKS)
  }

  it('tells the status of each task and its changes, as tasks/get shows it, across a crash of the server', async () => {
    const asking = await startTask('approver', 'listen')
    const gated = await startTask('gated', 'listen')
    await eventually(async () => (await server.run(asking)).status).toBe('suspended')
    const taskIds = [asking, 'run_unknown', gated, gated]
    const first = messagesOf(await listen({ taskIds, toolsListChanged: true }))
    await eventually(() => first.messages.length).toBe(3)

    expect(first.messages[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [asking, gated] }, _meta: SUBSCRIPTION },
    })
    expect(statusesOf(first.messages, asking)).toEqual(['input_required'])
    expect(statusesOf(first.messages, gated)).toEqual(['working'])

    await server.restart('SIGKILL')
    await eventually(() => first.isOver).toBe(true)
    await decide(asking)
    await eventually(async () => (await server.run(asking)).status).toBe('completed')

    const second = messagesOf(await listen({ taskIds }))
    await eventually(() => second.messages.length).toBe(3)
    expect(statusesOf(second.messages, asking)).toEqual(['completed'])
    appendFileSync(String(server.sandbox.env.E2E_LEDGER), 'gate listen\n')
    await eventually(() => second.isOver).toBe(true)

    expect(statusesOf(second.messages, gated)).toEqual(['working', 'completed'])
    for (const taskId of [asking, gated]) {
      const last = second.messages.findLast(({ params }) => params?.taskId === taskId)
      const { result = {} } = await ask('tasks/get', { taskId }, WITH_TASKS)
      expect(last).toMatchObject({ method: 'notifications/tasks', params: { _meta: SUBSCRIPTION } })
      expect(withoutMeta({ ...last?.params })).toEqual(withoutMeta(result))
    }
    expect(second.messages.at(-1)).toMatchObject({ id: 7, result: { resultType: 'complete', _meta: SUBSCRIPTION } })
  })

  it('tells what a task waits for, and that it goes on', async () => {
    const taskId = await startTask('approver', 'live')
    const { messages } = messagesOf(await listen({ taskIds: [taskId] }))
    await eventually(() => statusesOf(messages, taskId)).toContain('input_required')
    const asked = messages.findLast(({ params }) => params?.taskId === taskId)
    expect(withoutMeta({ ...asked?.params })).toEqual(
      withoutMeta((await ask('tasks/get', { taskId }, WITH_TASKS)).result ?? {}),
    )

    await decide(taskId)
    await eventually(() => statusesOf(messages, taskId).at(-1)).toBe('completed')
    expect(statusesOf(messages, taskId).slice(-3)).toEqual(['input_required', 'working', 'completed'])
  })

  it('includes no task of another subject, and ends at once if it includes none', async () => {
    const taskId = await startTask('approver', 'foreign')
    const token = await createToken(server.sandbox, 'agents:invoke', 'another')
    const foreign = messagesOf(await listen({ taskIds: [taskId] }, { token }))
    const other = messagesOf(await listen({ toolsListChanged: true }, { capabilities: {} }))
    await eventually(() => [foreign.isOver, other.isOver]).toEqual([true, true])

    expect(foreign.messages[0]?.params.notifications).toEqual({ taskIds: [] })
    expect(other.messages[0]?.params.notifications).toEqual({})
    expect([foreign, other].map(({ messages }) => messages.length)).toEqual([2, 2])
  })

  it('is refused without the capability, without a stream, and with a malformed list', async () => {
    const codeOf = async (response: Response) => [response.status, ((await response.json()) as Message).error?.code]
    const notifications = { taskIds: [] }

    expect(await codeOf(await listen(notifications, { capabilities: {} }))).toEqual([400, -32021])
    expect(await codeOf(await listen({ taskIds: Array(101).fill('run_1') }))).toEqual([200, -32602])
    expect(await codeOf(await listen({ taskIds: 'run_1' }))).toEqual([200, -32602])
    expect(await codeOf(await listen(undefined))).toEqual([200, -32602])
    expect(await ask('subscriptions/listen', { notifications }, WITH_TASKS)).toMatchObject({
      status: 400,
      error: { code: -32600 },
    })
  })
})

describe('a question to a client without a handshake', () => {
  const start = async () => (await ask('tools/call', { name: 'approver' }, { elicitation: {} })).result
  const answersOf = (asked: Awaited<ReturnType<typeof start>>, approved: boolean) =>
    Object.fromEntries(
      Object.keys(asked?.inputRequests as object).map((id) => [id, { action: 'accept', content: { approved } }]),
    )

  it('is asked again while it is not answered', async () => {
    const asked = await start()
    const again = await ask('tools/call', { name: 'approver', requestState: asked?.requestState }, { elicitation: {} })
    expect(again.result).toMatchObject({ resultType: 'input_required', inputRequests: asked?.inputRequests })
  })

  it('is answered under its state only: neither a forged one, nor by another subject, nor through another tool', async () => {
    const asked = await start()
    const inputResponses = answersOf(asked, true)
    const requestState = asked?.requestState
    const token = await createToken(server.sandbox, 'agents:invoke,approvals:resolve', 'stranger')
    const more = { name: 'approver', inputResponses }

    expect(await ask('tools/call', { ...more, requestState: `${requestState}0` }, {})).toMatchObject({
      error: { code: -32602 },
    })
    expect(await ask('tools/call', { ...more, name: 'talker', requestState }, {})).toMatchObject({
      error: { code: -32602 },
    })
    expect(await ask('tools/call', { ...more, requestState }, {}, { token })).toMatchObject({ error: { code: -32602 } })
    expect((await server.run(String(requestState))).status).toBe('suspended')
    expect((await ask('tools/call', { ...more, requestState }, {})).result).toMatchObject({
      content: [{ text: 'I need a decision.' }],
    })
  })

  it('is not decided by a token that may not decide', async () => {
    const token = await createToken(server.sandbox, 'agents:invoke', 'clerk')
    const { result } = await ask('tools/call', { name: 'approver' }, { elicitation: {} }, { token })
    const inputResponses = answersOf(result, true)
    const { requestState } = result ?? {}

    const refused = await ask('tools/call', { name: 'approver', requestState, inputResponses }, {}, { token })
    expect(refused).toMatchObject({ status: 403, id: 7, error: { data: { code: 'scope-denied' } } })
    expect((await server.run(String(requestState))).status).toBe('suspended')
  })
})

describe('the endpoint', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-03-26', capabilities: { elicitation: {} } },
  }

  it('negotiates the version of the client, or offers its newest one', async () => {
    const answer = await post(initialize)
    const unknown = await post({ ...initialize, params: { protocolVersion: '1999-01-01', capabilities: {} } })

    expect(answer.headers.get('mcp-session-id')).toBe('perdure1-e')
    expect(await answer.json()).toMatchObject({
      id: 1,
      result: { protocolVersion: '2025-03-26', capabilities: { tools: {} } },
    })
    expect(unknown.headers.get('mcp-session-id')).toBe('perdure1-n')
    expect(await unknown.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  })

  it('refuses a page of an origin that is not listed, and a request without a token', async () => {
    const foreign = await post(initialize, { headers: { origin: 'https://evil.example' } })
    const anonymous = await post(initialize, { token: 'none' })

    expect(foreign.status).toBe(403)
    expect(await foreign.json()).toMatchObject({ error: { data: { code: 'cors-denied' } } })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  it('rejects a malformed message with an error of JSON-RPC', async () => {
    for (const body of [
      [],
      {},
      { jsonrpc: '1.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: {}, method: 'ping' },
    ]) {
      const response = await post(body)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
    }
  })

  it('accepts notifications and answers to questions that it did not ask, and tells nothing', async () => {
    const messages = [
      { method: 'notifications/initialized' },
      { id: 'apr_unknown', result: { action: 'accept', content: { approved: true } } },
    ]
    for (const message of messages) {
      const response = await post({ jsonrpc: '2.0', ...message })
      expect([response.status, await response.text()]).toEqual([202, ''])
    }
  })

  it('opens no stream without a cursor, and resumes only runs that the caller may see', async () => {
    const get = (lastEventId?: string, token = server.token) =>
      fetch(`${server.url()}/mcp`, {
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
      })
    const call = {
      jsonrpc: '2.0',
      id: 'a b~c',
      method: 'tools/call',
      params: { name: 'adder', arguments: { a: 1, b: 1 } },
    }
    const streamed = await (
      await post(call, { headers: { accept: JSON_AND_EVENTS, 'mcp-protocol-version': '2025-11-25' } })
    ).text()
    const [, first = ''] = /^id: (.*)$/m.exec(streamed) ?? []
    const token = await createToken(server.sandbox, 'agents:invoke', 'another')

    expect((await get()).status).toBe(405)
    expect(
      (await fetch(`${server.url()}/mcp`, { method: 'DELETE', headers: { authorization: `Bearer ${server.token}` } }))
        .status,
    ).toBe(405)
    expect((await get('nonsense')).status).toBe(404)
    expect((await get(first, token)).status).toBe(404)
    const resumed = await (await get(first)).text()
    expect(JSON.parse(/^data: (.+)$/m.exec(resumed)?.[1] ?? '')).toMatchObject({
      id: 'a b~c',
      result: { structuredContent: { sum: 2 } },
    })
  })

  it('starts one run for two calls with the same key', async () => {
    const call = (n: number, key: string) =>
      post({
        jsonrpc: '2.0',
        id: n,
        method: 'tools/call',
        params: { name: 'adder', arguments: { a: 1, b: 1 }, _meta: { 'perdure/idempotencyKey': key } },
      })
    const answers: Message[] = []
    for (const [n, key] of ['k1', 'k1', 'k2'].entries()) answers.push((await (await call(n, key)).json()) as Message)
    const runs = answers.map(({ result }) => result?._meta?.['perdure/runId'])

    expect(runs[1]).toBe(runs[0])
    expect(runs[2]).not.toBe(runs[0])
  })
})

describe('many short calls', () => {
  /** MCP_CALLS=10000 is the long form. */
  const CALLS = Number(process.env.MCP_CALLS ?? 300)
  const PARTS = 12
  const MAX_GROWTH_MIB = 64

  const residentMiB = async () => {
    const metrics = await (
      await fetch(`${server.url()}/metrics`, { headers: { authorization: `Bearer ${server.token}` } })
    ).text()
    return Number(/^svc_process_resident_memory_bytes(?:\{.*?\})? (.+)$/m.exec(metrics)?.[1]) / 1_048_576
  }

  it('leave the memory of the server as it was', async () => {
    const call = async (n: number) => {
      const arguments_ = { a: n, b: 1 }
      const response = await post({
        jsonrpc: '2.0',
        id: n,
        method: 'tools/call',
        params: { name: 'adder', arguments: arguments_ },
      })
      expect((await response.json()) as Message).toMatchObject({ result: { structuredContent: { sum: n + 1 } } })
    }
    let sent = 0
    const callUntil = async (end: number) => {
      while (sent < end) await call(sent++)
    }
    const clients = (end: number) => Promise.all(Array.from({ length: 8 }, () => callUntil(end)))

    const samples: number[] = []
    for (let part = 1; part <= PARTS; part++) {
      await clients(Math.ceil((CALLS * part) / PARTS))
      samples.push(await residentMiB())
    }

    // Garbage collection lets the memory rise and fall, so the lowest late sample counts.
    const third = Math.floor(PARTS / 3)
    const growth = Math.min(...samples.slice(-third)) - Math.max(...samples.slice(0, third))
    if (process.env.MCP_CALLS !== undefined) console.log(samples.map(Math.round).join(', '), 'MiB')
    expect(growth).toBeLessThan(MAX_GROWTH_MIB)
  })
})
