import { join } from 'node:path'
import { WorkflowChatTransport } from '@ai-sdk/workflow/client'
import {
  type ChatTransport,
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  WebSocketChatTransport,
} from 'ai'
import { DefaultChatTransport as DefaultChatTransport6 } from 'ai6'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { createToken } from '../perdure-process.ts'
import { type Message, textOf, toolsOf } from './headless-chat.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  server = await startDurableServer(CONFIG, {}, (end) => {
    kill = end
  })
})
afterAll(() => {
  vi.restoreAllMocks()
  kill()
})

type Transport = ChatTransport<Message>

interface Options {
  readonly agentId?: string
  readonly token?: string
  readonly fetch?: typeof fetch
  readonly initialStartIndex?: number
}

const apiOf = (agentId: string) => `${server.url()}/agents/${agentId}/chat`

const authorized =
  (token: string, send: typeof fetch = fetch): typeof fetch =>
  (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    return send(input, { ...init, headers })
  }

/** The global WebSocket, with the header that only Node's can send. */
const socketWith = (token: string) =>
  class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, { protocols: protocols ?? [], headers: { authorization: `Bearer ${token}` } } as never)
    }
  }

const TRANSPORTS = {
  'DefaultChatTransport of version 6': ({ agentId = 'talker', token = server.token, fetch: send }: Options) =>
    new DefaultChatTransport6({ api: apiOf(agentId), fetch: authorized(token, send) }) as unknown as Transport,
  'DefaultChatTransport of version 7': ({ agentId = 'talker', token = server.token, fetch: send }: Options) =>
    new DefaultChatTransport<Message>({ api: apiOf(agentId), fetch: authorized(token, send) }),
  WorkflowChatTransport: ({ agentId = 'talker', token = server.token, fetch: send, ...more }: Options) =>
    new WorkflowChatTransport({ api: apiOf(agentId), fetch: authorized(token, send), ...more }) as unknown as Transport,
  WebSocketChatTransport: ({ agentId = 'talker', token = server.token }: Options) => {
    const transport = new WebSocketChatTransport<Message>({
      url: apiOf(agentId),
      webSocket: socketWith(token) as never,
    })
    onTestFinished(() => transport.close())
    return transport
  },
} as const

const user = (text: string, id = `m-${Math.random()}`): Message => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})

let chats = 0
const newChat = () => `chat-${++chats}`

const sending = (chatId: string, messages: Message[], abortSignal?: AbortSignal) => ({
  ...{ chatId, messages, abortSignal, trigger: 'submit-message' as const, messageId: undefined },
})

async function chunksOf(stream: ReadableStream<UIMessageChunk> | null): Promise<readonly UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk)
  return chunks
}

/** The message that a page shows after these chunks. */
async function shownBy(chunks: readonly UIMessageChunk[], message?: Message): Promise<Message> {
  let shown: UIMessage | undefined
  const stream = ReadableStream.from(chunks) as ReadableStream<UIMessageChunk>
  for await (const one of readUIMessageStream({ stream, terminateOnError: true, ...(message && { message }) }))
    shown = one
  return shown as Message
}

const TALK = Array.from({ length: 40 }, (_, n) => `t${n + 1} `).join('')

describe.each(Object.entries(TRANSPORTS))('%s, unchanged', (name, open) => {
  it('sends messages, and has the earlier turns in the same chat', async () => {
    const transport = open({})
    const chatId = newChat()
    const first = user('t')
    const answer = await shownBy(await chunksOf(await transport.sendMessages(sending(chatId, [first]))))
    const second = await chunksOf(await transport.sendMessages(sending(chatId, [first, answer, user('u')])))

    expect(textOf(answer)).toBe(TALK)
    expect(second.map(({ type }) => type)).toEqual(expect.arrayContaining(['start', 'text-delta', 'finish']))
    const runs = await Promise.all(
      [answer.id, (await shownBy(second)).id].map((id) => server.get<{ sessionId: string }>(`/runs/${id.slice(4)}`)),
    )
    expect(runs[0]?.body.sessionId).toBe(runs[1]?.body.sessionId)
  })

  it('shows what tools did', async () => {
    const answer = await shownBy(
      await chunksOf(await open({ agentId: 'tooler' }).sendMessages(sending(newChat(), [user('x')]))),
    )

    expect(toolsOf(answer).map(({ toolCallId, state }) => [toolCallId, state])).toEqual([
      ['call_1', 'output-available'],
      ['call_2', 'output-error'],
    ])
  })

  it('continues the message with the answers to its approvals', async () => {
    const transport = open({ agentId: 'asker' })
    const chatId = newChat()
    const question = user('x')
    const asked = await shownBy(await chunksOf(await transport.sendMessages(sending(chatId, [question]))))
    expect(toolsOf(asked).map(({ state }) => state)).toEqual(['approval-requested', 'approval-requested'])
    let approved = true
    const parts = asked.parts.map((part) => {
      if (!('approval' in part) || part.approval === undefined) return part
      const approval = { ...part.approval, approved }
      approved = false
      return { ...part, state: 'approval-responded', approval }
    })
    const answered = { ...asked, parts } as Message
    const rest = await chunksOf(await transport.sendMessages(sending(chatId, [question, answered])))
    const answer = await shownBy(rest, answered)

    expect(answer.id).toBe(asked.id)
    expect(textOf(answer)).toBe('I need your approval.Sent: 1.')
    expect(toolsOf(answer).map(({ state }) => state)).toEqual(['output-available', 'output-denied'])
  })

  it('is refused with a token that is not valid', async () => {
    const request = open({ token: 'svc_wrong' }).sendMessages(sending(newChat(), [user('x')]))

    await expect(request.then(chunksOf)).rejects.toThrow(
      name === 'WebSocketChatTransport' ? /4002|network connection/ : /auth-invalid|token/i,
    )
  })

  it('does not read the chat of somebody else', async () => {
    const chatId = newChat()
    await chunksOf(await open({}).sendMessages(sending(chatId, [user('secret')])))
    const token = await createToken(server.sandbox, 'agents:invoke:*', 'other')
    const transport = open({ token })
    const seen = await transport.reconnectToStream({ chatId }).then(chunksOf)

    expect(seen.filter(({ type }) => type !== 'finish')).toEqual([])
  })
})

/** Ends the first response after this many chunks, as a broken connection does. */
function brokenAfter(count: number): typeof fetch {
  let isBroken = false
  return async (...request) => {
    const response = await fetch(...request)
    if (isBroken || response.body === null) return response
    isBroken = true
    let chunks = 0
    const cut = new TransformStream<string, string>({
      transform(text, controller) {
        for (const block of text.split(/(?<=\n\n)/)) {
          if (chunks >= count) return controller.terminate()
          if (/^(id|data)/.test(block)) chunks += 1
          controller.enqueue(block)
        }
      },
    })
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(cut)
      .pipeThrough(new TextEncoderStream())
    return new Response(body, response)
  }
}

describe('the index of a chunk', () => {
  const wholeRun = async (agentId = 'talker') => {
    const stream = await TRANSPORTS.WorkflowChatTransport({ agentId }).sendMessages(sending(newChat(), [user('t')]))
    const chunks = await chunksOf(stream)
    const [start] = chunks
    const runId = start?.type === 'start' ? (start.messageId ?? '').slice(4) : ''
    return { runId, chunks }
  }

  const from = async (runId: string, startIndex: number | string, agentId = 'talker', token = server.token) => {
    const response = await fetch(`${apiOf(agentId)}/${runId}/stream?startIndex=${startIndex}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const data = (await response.text())
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    return { response, chunks: data.slice(0, -1).map((one) => JSON.parse(one)), last: data.at(-1) }
  }

  it('is the same in the response to a message and in each later one', async () => {
    const { runId, chunks } = await wholeRun()
    for (const startIndex of [0, 1, 2, 17, chunks.length - 1]) {
      expect((await from(runId, startIndex)).chunks).toEqual(chunks.slice(startIndex))
    }
  })

  it('counts from the newest chunk if it is negative, and the response says which index that chunk has', async () => {
    const { runId, chunks } = await wholeRun()
    for (const startIndex of [-1, -5, -chunks.length, -1_000]) {
      const { response, chunks: tail } = await from(runId, startIndex)
      expect(tail).toEqual(chunks.slice(startIndex))
      expect(response.headers.get('x-workflow-stream-tail-index')).toBe(String(chunks.length - 1))
    }
  })

  it('past the end of an answer brings nothing but its finish', async () => {
    const { runId, chunks } = await wholeRun()
    for (const startIndex of [chunks.length, 100_000]) {
      expect(await from(runId, startIndex)).toMatchObject({ chunks: [{ type: 'finish' }], last: '[DONE]' })
    }
  })

  it('must be an integer', async () => {
    const { runId } = await wholeRun()
    for (const startIndex of ['x', '1.5', '']) {
      expect((await from(runId, startIndex)).response.status).toBe(400)
    }
  })

  it('leads to the runs of this agent and this caller only', async () => {
    const { runId } = await wholeRun()
    const other = await createToken(server.sandbox, 'agents:invoke:*', 'somebody')
    expect((await from(runId, 0, 'plain')).response.status).toBe(404)
    expect((await from(runId, 0, 'talker', other)).response.status).toBe(404)
    expect((await from('run_0', 0)).response.status).toBe(404)
  })

  it.each([1, 2, 3, 7, 20, 41])(
    'lets WorkflowChatTransport continue after %i chunks, with each text once',
    async (count) => {
      const transport = TRANSPORTS.WorkflowChatTransport({ fetch: brokenAfter(count) })
      const answer = await shownBy(await chunksOf(await transport.sendMessages(sending(newChat(), [user('t')]))))

      expect(textOf(answer)).toBe(TALK)
    },
  )

  it.each([1, 2, 3, 4, 5])(
    'counts from the answer to an approval in the response to it, after %i chunks',
    async (count) => {
      const chatId = newChat()
      const question = user('x')
      const first = TRANSPORTS.WorkflowChatTransport({ agentId: 'approver' })
      const asked = await shownBy(await chunksOf(await first.sendMessages(sending(chatId, [question]))))
      const parts = asked.parts.map((part) =>
        'approval' in part
          ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }
          : part,
      )
      const answered = { ...asked, parts } as Message
      const broken = TRANSPORTS.WorkflowChatTransport({ agentId: 'approver', fetch: brokenAfter(count) })
      const rest = await chunksOf(await broken.sendMessages(sending(chatId, [question, answered])))

      expect(textOf(await shownBy(rest, answered))).toBe('Refunded by e2e.')
    },
  )

  it('lets WorkflowChatTransport resume from the tail', async () => {
    const { runId, chunks } = await wholeRun()
    const transport = TRANSPORTS.WorkflowChatTransport({ initialStartIndex: -4 })

    expect(await transport.reconnectToStream({ chatId: runId }).then(chunksOf)).toEqual(
      chunks.slice(-4).filter(({ type }) => !['text-delta', 'text-end'].includes(type)),
    )
  })

  it('ends for WorkflowChatTransport after an abort', async () => {
    const chatId = newChat()
    const transport = TRANSPORTS.WorkflowChatTransport({ agentId: 'gated' })
    const stream = await transport.sendMessages(sending(chatId, [user('x')]))
    const all = chunksOf(stream)
    let runId = ''
    await eventually(async () => {
      const { body } = await server.get<{ items: { id: string }[] }>('/runs?status=running&agentId=gated')
      runId = body.items[0]?.id ?? ''
      return runId
    }).toMatch(/^run_/)
    await server.post(`/agents/gated/chat/${runId}/stop`, {})

    expect((await all).map(({ type }) => type).slice(-2)).toEqual(['abort', 'finish'])
  })
})

describe('WebSocketChatTransport', () => {
  const open = (agentId: string, more: object = {}) => TRANSPORTS.WebSocketChatTransport({ agentId, ...more })

  it('resumes an answer from its beginning, on another connection', async () => {
    const chatId = newChat()
    const sent = await open('storyteller').sendMessages(sending(chatId, [user('x')]))
    const reader = sent.getReader()
    for (let n = 0; n < 4; n++) await reader.read()
    const resumed = await open('storyteller').reconnectToStream({ chatId })
    const answer = await shownBy(await chunksOf(resumed))

    expect(textOf(answer)).toBe('part 1. part 2. part 3. part 4. part 5. part 6. End.')
  })

  it('resumes the newest answer of a run that has asked for input', async () => {
    const transport = open('suspender')
    const chatId = newChat()
    const first = user('x')
    const asked = await shownBy(await chunksOf(await transport.sendMessages(sending(chatId, [first]))))
    const sent = await transport.sendMessages(sending(chatId, [first, asked, user('Bern')]))
    const answer = await shownBy(await chunksOf(sent))
    const resumed = await shownBy(await chunksOf(await transport.reconnectToStream({ chatId })))

    expect([textOf(asked), textOf(answer)]).toEqual(['Which city?', 'You said Bern.'])
    expect([resumed.id, textOf(resumed)]).toEqual([answer.id, 'You said Bern.'])
  })

  it('has nothing to resume in a chat without an answer', async () => {
    expect(await open('talker').reconnectToStream({ chatId: newChat() })).toBeNull()
  })

  it('aborts the run of an answer that the page stops', async () => {
    const stop = new AbortController()
    const stream = await open('gated').sendMessages(sending(newChat(), [user('x')], stop.signal))
    const reader = stream.getReader()
    const first = await reader.read()
    const runId = first.value?.type === 'start' ? (first.value.messageId ?? '').slice(4) : ''
    stop.abort()

    await eventually(async () => (await server.run(runId)).status).toBe('aborted')
  })

  it('answers several chats over one connection', async () => {
    const transport = open('talker')
    const answers = await Promise.all(
      [1, 2, 3].map(async () =>
        textOf(await shownBy(await chunksOf(await transport.sendMessages(sending(newChat(), [user('t')]))))),
      ),
    )

    expect(answers).toEqual([TALK, TALK, TALK])
  })

  it('shows why a request is refused', async () => {
    const request = open('talker').sendMessages(sending('run_mine', [user('x')]))

    await expect(request.then(chunksOf)).rejects.toThrow(/must not begin with run_/)
  })

  it.each([
    ['a text that is not a frame', '{'],
    ['a frame of another protocol', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize' })],
    ['binary data', new Uint8Array([1])],
  ])('closes the connection of a client that sends %s', async (_, data) => {
    const socket = new (socketWith(server.token))(apiOf('talker').replace('http', 'ws'))
    socket.addEventListener('open', () => socket.send(data))
    const closed = new Promise<{ readonly code: number }>((resolve) =>
      socket.addEventListener('close', resolve as never),
    )

    expect((await closed).code).toBe(4008)
  })

  it('closes the connection when its token is revoked', async () => {
    const { body } = await server.post('/tokens', { name: 'short', scopes: ['agents:invoke:*'] })
    const { id, token } = body as unknown as { id: string; token: string }
    const stream = await open('gated', { token }).sendMessages(sending(newChat(), [user('x')]))
    const all = chunksOf(stream)
    await server.call('DELETE', `/tokens/${id}`)

    await expect(all).rejects.toThrow(/4003/)
  })

  it('connects with the ticket of a page', async () => {
    const { body } = await server.post('/session/ws-ticket', {})
    const { ticket } = body as unknown as { ticket: string }
    const transport = new WebSocketChatTransport<Message>({ url: apiOf('talker'), params: { ticket } })
    onTestFinished(() => transport.close())

    expect(textOf(await shownBy(await chunksOf(await transport.sendMessages(sending(newChat(), [user('t')])))))).toBe(
      TALK,
    )
  })

  it('needs the scope to invoke the agent', async () => {
    const token = await createToken(server.sandbox, 'agents:invoke:plain', 'narrow')

    const refused = open('talker', { token })
      .sendMessages(sending(newChat(), [user('t')]))
      .then(chunksOf)
    await expect(refused).rejects.toThrow(/4004/)
    expect(
      textOf(
        await shownBy(await chunksOf(await open('plain', { token }).sendMessages(sending(newChat(), [user('t')])))),
      ),
    ).toBe('forty-two')
  })
})
