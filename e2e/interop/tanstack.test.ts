import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { toolDefinition } from '@tanstack/ai'
import { ChatClient, type ChatClientOptions, fetchServerSentEvents } from '@tanstack/ai-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableServer, eventually, type Shown, startDurableServer } from '../durable-server.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')
const TALK = Array.from({ length: 40 }, (_, n) => `x${n + 1} `).join('')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, {}, (end) => {
    kill = end
  })
})
afterAll(() => kill())

let threads = 0

interface Opened extends Pick<ChatClientOptions, 'tools' | 'persistence'> {
  readonly threadId?: string
  readonly fetchClient?: typeof fetch
}

/** The client behind `useChat` of TanStack, with its own connection. */
function open(agentId: string, { threadId = `tanstack-${++threads}`, fetchClient = fetch, ...more }: Opened = {}) {
  const headers = { Authorization: `Bearer ${server.token}` }
  const errors: Error[] = []
  const client = new ChatClient({
    ...{ threadId, ...more },
    connection: fetchServerSentEvents(`${server.url()}/agents/${agentId}/ag-ui`, { headers, fetchClient }),
    onError: (error) => errors.push(error),
  })
  const parts = () =>
    client.getMessages().flatMap((message) => (message.role === 'assistant' ? [...message.parts] : []))
  return {
    ...{ client, errors, parts, threadId },
    text: () => parts().flatMap((part) => (part.type === 'text' ? [part.content] : [])),
    asked: () =>
      client
        .getMessages()
        .flatMap(({ role, parts: [part] }) => (role === 'user' && part?.type === 'text' ? [part.content] : [])),
  }
}

/** Breaks the first response of a client after some chunks. */
function breakOnce(chunks: number): typeof fetch {
  let isBroken = false
  return async (...request) => {
    const response = await fetch(...request)
    if (isBroken || response.body === null) return response
    isBroken = true
    const reader = response.body.getReader()
    let read = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        if (++read <= chunks) return controller.enqueue(value)
        await reader.cancel()
        controller.error(new Error('the connection is lost'))
      },
    })
    return new Response(body, response)
  }
}

const runsOf = async () => server.itemsOf<Shown>('/runs?limit=200')

describe('the client of TanStack', () => {
  it('shows text, reasoning and tools with their results', async () => {
    const [talker, tooler] = [open('talker'), open('tooler')]
    await Promise.all([talker.client.sendMessage('x'), tooler.client.sendMessage('x')])

    expect(talker.text()).toEqual([TALK])
    expect(tooler.parts()).toMatchObject([
      { type: 'thinking', content: 'I should write two mails.' },
      { type: 'tool-call', id: 'call_1', name: 'mail', state: 'complete', output: { sent: 'call_1' } },
      { type: 'tool-result', toolCallId: 'call_1' },
      { type: 'tool-call', id: 'call_2', output: { error: { message: expect.stringContaining('An error occurred') } } },
      { type: 'tool-result', toolCallId: 'call_2' },
      { type: 'text', content: 'One of two mails was sent.' },
    ])
    expect([talker.errors, tooler.errors]).toEqual([[], []])
  })

  it('performs the tools that it offers, and sends their results by itself', async () => {
    const tool = (name: string, result: unknown) =>
      toolDefinition({ name, description: name, inputSchema: { type: 'object' } }).client(() => result)
    const { client, text, errors } = open('picker', { tools: [tool('pickColor', 'red'), tool('pickSize', 42)] })
    await client.sendMessage('x')
    await eventually(text).toEqual(['You offer 2 tools.', 'Color red, size 42.'])
    expect(errors).toEqual([])
  })

  it('asks for approvals, also after a reload, and shows what the approved call has returned', async () => {
    const before = open('asker')
    await before.client.sendMessage('x')
    expect(before.parts()).toMatchObject([
      { type: 'text' },
      { id: 'call_a', state: 'approval-requested' },
      { id: 'call_b', state: 'approval-requested' },
    ])

    const { client, parts, text } = open('asker', { threadId: before.threadId, persistence: true })
    client.attach()
    await eventually(() => client.getInterrupts().map(({ message }) => message)).toEqual(['Send A?', 'Send B?'])
    const [first, second] = client.getInterrupts()
    if (first?.kind !== 'generic' || second?.kind !== 'generic') throw new Error('an interrupt cannot be answered')
    first.resolveInterrupt({ approved: true })
    second.cancel()
    await eventually(text).toEqual(['I need your approval.', 'Sent: 1.'])
    expect(parts()).toContainEqual(expect.objectContaining({ id: 'call_a', output: { sent: 'call_a' } }))
    expect(client.getInterrupts()).toEqual([])
  })

  it('shows the result of an approved call in the page that has asked', async () => {
    const { client, parts, text } = open('asker')
    await client.sendMessage('x')
    for (const interrupt of client.getInterrupts()) {
      if (interrupt.kind === 'generic') interrupt.resolveInterrupt({ approved: true })
    }
    await eventually(text).toContain('Sent: 2.')
    expect(parts()).toContainEqual(expect.objectContaining({ id: 'call_a', output: { sent: 'call_a' } }))
  })

  it('answers a run that waits for input', async () => {
    const { client, text } = open('suspender')
    await client.sendMessage('x')
    const [asked] = client.getInterrupts()
    if (asked?.kind !== 'generic') throw new Error('the interrupt cannot be answered')
    asked.resolveInterrupt({ text: 'Bern' })
    await eventually(text).toEqual(['Which city?', 'You said Bern.'])
  })

  it('continues a broken response where it has broken', async () => {
    const { client, text, errors } = open('talker', { fetchClient: breakOnce(8) })
    await client.sendMessage('x')

    expect([text(), errors]).toEqual([[TALK], []])
  })

  it('shows the conversation after a reload, and the answer that is still being written', async () => {
    const before = open('talker')
    await before.client.sendMessage('x')
    const answering = before.client.sendMessage('y')
    await eventually(() => before.text().length).toBe(2)

    const { client, text, asked } = open('talker', { threadId: before.threadId, persistence: true })
    client.attach()
    await answering
    await eventually(text).toEqual([TALK, TALK.replaceAll('x', 'y')])
    expect(asked()).toEqual(['x', 'y'])
    await client.sendMessage('z')
    expect(text()).toHaveLength(3)
  })

  it('shows an empty thread after a reload', async () => {
    const { client, errors } = open('talker', { persistence: true })
    client.attach()
    await client.sendMessage('x')
    expect([client.getMessages().length, errors]).toEqual([2, []])
  })

  it('stops reading, while the run works on until somebody aborts it', async () => {
    const { client, text } = open('single')
    const before = (await runsOf()).length
    const answering = client.sendMessage('x')
    const running = async () => (await runsOf()).filter(({ status }) => status === 'running')
    await eventually(async () => (await running()).length).toBe(1)
    client.stop()
    await answering
    await pause(50)

    const [run] = await running()
    expect([text(), (await runsOf()).length]).toEqual([[], before + 1])
    await server.post(`/runs/${run?.id}/abort`, {})
    await eventually(async () => (await server.run(run?.id ?? '')).status).toBe('aborted')
  })
})
