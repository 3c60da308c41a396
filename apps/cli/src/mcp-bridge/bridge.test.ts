import { describe, expect, it } from 'vitest'
import { createBridge } from './bridge.ts'

const URL = 'http://127.0.0.1:1/v1/mcp'
const META = 'io.modelcontextprotocol/protocolVersion'

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly id?: unknown; readonly params?: { readonly _meta?: Record<string, unknown> } }
}

type Answer = (sent: Sent) => Response

const json = (body: object, init: ResponseInit = {}) =>
  new Response(JSON.stringify(body), { ...init, headers: { 'content-type': 'application/json', ...init.headers } })

/** A stream of events, which breaks after the last one unless the answer is complete. */
const stream = (...events: readonly (readonly [id: string, message: object | undefined])[]) => {
  const blocks = events.map(
    ([id, message]) => `id: ${id}\ndata: ${message === undefined ? '' : JSON.stringify(message)}\n\n`,
  )
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const block = blocks.shift()
      if (block === undefined) controller.error(new TypeError('terminated'))
      else controller.enqueue(new TextEncoder().encode(block))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const refused: Answer = () => {
  throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
}

/** A bridge to a server that gives these answers, in order. */
function bridgeTo(...answers: Answer[]) {
  const sent: Sent[] = []
  const written: Record<string, unknown>[] = []
  const notes: string[] = []
  let keys = 0
  let nowMs = 0
  const bridge = createBridge({
    url: URL,
    token: 'secret',
    async fetch(url, { method, headers, body }) {
      expect(url).toBe(URL)
      const one = { method: String(method), headers, body: body === undefined ? {} : JSON.parse(String(body)) } as Sent
      const answer = answers.shift() ?? refused
      const response = answer(one)
      sent.push(one)
      return response
    },
    monotonicMs: () => nowMs,
    async sleep(ms, signal) {
      signal.throwIfAborted()
      nowMs += ms
    },
    note: (text) => notes.push(text),
    write: (text) => written.push(JSON.parse(text)),
    newKey: () => `key-${++keys}`,
    patienceMs: 60_000,
  })
  const take = async (...messages: readonly object[]) => {
    for (const message of messages) bridge.take(JSON.stringify({ jsonrpc: '2.0', ...message }))
    await bridge.settled()
  }
  return { bridge, take, sent, written, notes }
}

const call = (id: number, name = 'echo', meta: object = {}) => ({
  ...{ id, method: 'tools/call' },
  params: { name, arguments: {}, _meta: meta },
})
const result = (id: number, text = 'done') => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
const progress = (n: number) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: n } })
const keyOf = ({ body }: Sent) => body.params?._meta?.['perdure/idempotencyKey']

describe('the bridge from stdio to a server', () => {
  it('passes an answer on, and repeats what the handshake has agreed on', async () => {
    const initialized = { jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-11-25' } }
    const { take, sent, written } = bridgeTo(
      () => json(initialized, { headers: { 'mcp-session-id': 'perdure1-e' } }),
      () => new Response(null, { status: 202 }),
      () => json(result(1)),
    )
    await take({ id: 0, method: 'initialize', params: {} })
    await take({ method: 'notifications/initialized' })
    await take({ id: 1, method: 'tools/list' })

    expect(written).toEqual([initialized, result(1)])
    expect(sent[0]?.headers).toMatchObject({ Authorization: 'Bearer secret' })
    for (const { headers } of sent.slice(1)) {
      expect(headers).toMatchObject({ 'Mcp-Session-Id': 'perdure1-e', 'MCP-Protocol-Version': '2025-11-25' })
    }
  })

  it('adds the headers that a message without a handshake needs', async () => {
    const { take, sent } = bridgeTo(
      () => json(result(1)),
      () => json(result(2)),
    )
    await take(call(1, 'größe', { [META]: '2026-07-28' }))
    await take({ id: 2, method: 'tasks/get', params: { taskId: 'run_1', _meta: { [META]: '2026-07-28' } } })

    expect(sent[0]?.headers).toMatchObject({
      ...{ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call' },
      'Mcp-Name': `=?base64?${Buffer.from('größe').toString('base64')}?=`,
    })
    expect(sent[1]?.headers).toMatchObject({ 'Mcp-Name': 'run_1' })
  })

  it('sends a call again with the same key until the server has answered, and tells about it once', async () => {
    const { take, sent, written, notes } = bridgeTo(
      refused,
      refused,
      () => new Response('', { status: 503 }),
      () => json(result(1)),
    )
    await take(call(1))

    expect(written).toEqual([result(1)])
    expect(sent.map(keyOf)).toEqual(['key-1', 'key-1'])
    expect(notes).toEqual([
      `the server at ${URL} does not answer (ECONNREFUSED); the messages of the client wait`,
      `the server at ${URL} answers again`,
    ])
  })

  it('subscribes again when the stream breaks, passes on what is new, and does not wait for the end', async () => {
    const acknowledged = { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: {} }
    const task = (status: string) => ({ jsonrpc: '2.0', method: 'notifications/tasks', params: { status } })
    const { bridge, take, sent, written } = bridgeTo(
      () => stream(['', acknowledged], ['', task('working')]),
      () => stream(['', acknowledged], ['', task('input_required')]),
      () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    )
    await take({ id: 1, method: 'subscriptions/listen', params: { _meta: { [META]: '2026-07-28' } } })
    await expect.poll(() => sent.length).toBe(3)

    expect(written).toEqual([acknowledged, task('working'), task('input_required')])
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST'])
    bridge.close()
  })

  it('keeps the key that a client has chosen', async () => {
    const { take, sent } = bridgeTo(() => json(result(1)))
    await take(call(1, 'echo', { 'perdure/idempotencyKey': 'mine' }))

    expect(sent.map(keyOf)).toEqual(['mine'])
  })

  it('resumes a stream that breaks, and passes each message on once', async () => {
    const { take, sent, written } = bridgeTo(
      () => stream(['c1', undefined], ['c2', progress(1)]),
      refused,
      () => stream(['c3', progress(2)], ['c4', result(1)]),
    )
    await take(call(1))

    expect(written).toEqual([progress(1), progress(2), result(1)])
    expect(sent.map(({ method, headers }) => [method, headers['Last-Event-ID']])).toEqual([
      ['POST', undefined],
      ['GET', 'c2'],
    ])
  })

  it('passes a question on once, although the server asks again when a stream is resumed', async () => {
    const question = (id: string) => ({ jsonrpc: '2.0', id, method: 'elicitation/create', params: {} })
    const { take, written } = bridgeTo(
      () => stream(['c1', undefined], ['c2', question('apr_1')]),
      () => stream(['c2', question('apr_1')], ['c3', question('apr_2')], ['c4', result(1)]),
    )
    await take(call(1))
    expect(written).toEqual([question('apr_1'), question('apr_2'), result(1)])
  })

  it('sends a call without a handshake again when its stream breaks, and skips what it has passed on', async () => {
    const { take, sent, written } = bridgeTo(
      () => stream(['c1', progress(1)]),
      () => stream(['c1', progress(1)], ['c2', progress(2)], ['c3', result(1)]),
    )
    await take(call(1, 'echo', { [META]: '2026-07-28' }))

    expect(written).toEqual([progress(1), progress(2), result(1)])
    expect(sent.map((one) => [one.method, keyOf(one)])).toEqual([
      ['POST', 'key-1'],
      ['POST', 'key-1'],
    ])
  })

  it('answers with an error when the server stays away', async () => {
    const { take, written, bridge } = bridgeTo()
    await take(call(1))

    expect(written).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32_000, message: expect.stringContaining('did not answer for 60 seconds (ECONNREFUSED)') },
      },
    ])
    expect(bridge.hasReached()).toBe(false)
  })

  it('does not send a call that the client has cancelled while the server was away', async () => {
    const { take, sent, written } = bridgeTo(refused, () => new Response(null, { status: 202 }))
    await take(call(1), { method: 'notifications/cancelled', params: { requestId: 1 } })

    expect(written).toEqual([])
    expect(sent.map(({ body }) => body)).toEqual([expect.objectContaining({ method: 'notifications/cancelled' })])
  })

  it('delivers the answer of the user to a question once the server is back', async () => {
    const { take, sent, written } = bridgeTo(refused, () => new Response(null, { status: 202 }))
    await take({ id: 'apr_1', result: { action: 'accept', content: { approved: true } } })

    expect(written).toEqual([])
    expect(sent.map(({ body }) => body.id)).toEqual(['apr_1'])
  })

  it('answers a refusal under the id of the request', async () => {
    const error = { code: -32_001, message: 'the token lacks a scope' }
    const { take, written } = bridgeTo(
      () => json({ jsonrpc: '2.0', id: null, error }, { status: 403 }),
      () =>
        json({ error: 'route-not-found', message: 'No route has this path.', hint: 'check the path' }, { status: 404 }),
      () => new Response('<html>', { status: 404 }),
    )
    await take(call(1))
    await take(call(2))
    await take(call(3))

    expect(written).toEqual([
      { jsonrpc: '2.0', id: 1, error },
      {
        jsonrpc: '2.0',
        id: 2,
        error: { code: -32_000, message: 'No route has this path (route-not-found): check the path' },
      },
      { jsonrpc: '2.0', id: 3, error: { code: -32_000, message: 'the server answered 404 without a message' } },
    ])
  })

  it('answers a line that is not a message with an error', async () => {
    const { bridge, written } = bridgeTo()
    for (const text of ['{', '[]', '1']) bridge.take(text)
    bridge.take(' ')

    expect(written).toEqual(
      Array(3).fill({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_700, message: 'the line is not a JSON-RPC message' },
      }),
    )
  })
})
