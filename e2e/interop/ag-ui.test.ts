import { join } from 'node:path'
import { HttpAgent, type Message } from '@ag-ui/client'
import { HttpAgent as OlderHttpAgent } from 'ag-ui-client-0'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PerdureHttpAgent } from '../../packages/client/src/ag-ui.ts'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { createToken } from '../perdure-process.ts'
import { openRuntime } from './agent-runtime.ts'
import { endAtBreak } from './end-at-break.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, {}, (end) => {
    kill = end
  })
})
afterAll(() => kill())

interface OpenOptions {
  readonly on?: Pick<DurableServer, 'url' | 'token'>
  readonly threadId?: string
  readonly messages?: Message[]
  readonly fetch?: typeof fetch
}

let questions = 0

function open(agentId: string, { on = server, threadId, messages, ...more }: OpenOptions = {}) {
  questions += 1
  const question: Message = { id: `q${questions}`, role: 'user', content: 'x' }
  const agent = new HttpAgent({
    url: `${on.url()}/agents/${agentId}/ag-ui`,
    headers: { Authorization: `Bearer ${on.token}` },
    threadId: threadId ?? `thread-${questions}`,
    initialMessages: messages ?? [question],
    ...more,
  })
  const events: { readonly type: string; readonly code?: string; readonly metadata?: { perdureRunId?: string } }[] = []
  agent.subscribe({
    onEvent: ({ event }) => void events.push(event as never),
  })
  return {
    agent,
    events,
    types: () => events.map(({ type }) => type),
    runId: () => events.find(({ type }) => type === 'RUN_STARTED')?.metadata?.perdureRunId ?? '',
    text: () => textOf(agent.messages),
  }
}

const textOf = (messages: readonly Message[]) =>
  messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content ?? '')
    .join('')

const shownBy = (messages: readonly Message[], runId: string) =>
  JSON.parse(JSON.stringify(messages).replaceAll(runId, '<run>')).filter(
    ({ role, content, toolCalls }: { role: string; content?: string; toolCalls?: unknown }) =>
      role !== 'user' && (content !== '' || toolCalls !== undefined),
  )

/** The response to a request that the client would not send. */
async function answerOf(agentId: string, more: object): Promise<string> {
  const response = await fetch(`${server.url()}/agents/${agentId}/ag-ui`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ runId: 'r2', messages: [], state: {}, tools: [], context: [], ...more }),
  })
  return response.text()
}

/** Ends the response after `k` blocks. */
function cutAfter(k: number): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request)
    const blocks = (await response.text()).split(/(?<=\n\n)/).filter((block) => !block.startsWith(':'))
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const block of blocks.slice(0, k)) controller.enqueue(new TextEncoder().encode(block))
        controller.close()
      },
    })
    return new Response(body, response)
  }
}

describe('AG-UI', () => {
  it('shows the text of an answer, and the result of a run that says nothing', async () => {
    const [talker, plain] = [open('talker'), open('plain')]
    await Promise.all([talker.agent.runAgent(), plain.agent.runAgent()])

    expect(talker.text()).toBe(Array.from({ length: 40 }, (_, n) => `x${n + 1} `).join(''))
    expect(plain.text()).toBe('forty-two')
    expect(talker.types().at(-1)).toBe('RUN_FINISHED')
  })

  it('shows tool calls with their results, state and reasoning', async () => {
    const [tooler, stateful] = [open('tooler'), open('stateful')]
    await Promise.all([tooler.agent.runAgent(), stateful.agent.runAgent()])

    expect(tooler.agent.messages).toMatchObject([
      { role: 'user' },
      { role: 'reasoning', content: 'I should write two mails.' },
      { role: 'assistant', toolCalls: [{ id: 'call_1', function: { name: 'mail', arguments: '{"to":"call_1"}' } }] },
      { role: 'tool', toolCallId: 'call_1', content: '{"sent":"call_1"}' },
      { role: 'assistant', toolCalls: [{ id: 'call_2' }] },
      { role: 'tool', toolCallId: 'call_2', content: expect.stringContaining('An error occurred (run run_') },
      { role: 'assistant', content: 'One of two mails was sent.' },
    ])
    expect(stateful.agent.state).toEqual({ city: 'Basel', visits: 1 })
  })

  it('asks for approvals as interrupts, and continues with the answers', async () => {
    const { agent, text } = open('asker')
    await agent.runAgent()
    const interrupts = agent.pendingInterrupts
    expect(interrupts).toMatchObject([
      { reason: 'tool_call', toolCallId: 'call_a', message: 'Send A?' },
      { reason: 'tool_call', toolCallId: 'call_b', message: 'Send B?' },
    ])

    await agent.runAgent({
      resume: [
        { interruptId: interrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } },
        { interruptId: interrupts[1]?.id ?? '', status: 'cancelled' },
      ],
    })
    expect(agent.pendingInterrupts).toEqual([])
    expect(text()).toBe('I need your approval.Sent: 1.')
    expect(agent.messages).toContainEqual(expect.objectContaining({ role: 'tool', toolCallId: 'call_a' }))
  })

  it('asks for an approval of a child run, and shows the child', async () => {
    const { agent, text, types } = open('parent')
    await agent.runAgent()
    const [interrupt] = agent.pendingInterrupts
    await agent.runAgent({
      resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }],
    })

    expect(text()).toBe('I ask my colleague.My colleague is done.')
    expect(types()).toContain('SUBAGENT_STARTED')
  })

  it('passes the next message to a run that asked for input', async () => {
    const { agent, text } = open('suspender')
    await agent.runAgent()
    expect(agent.pendingInterrupts).toMatchObject([{ reason: 'input' }])
    const [interrupt] = agent.pendingInterrupts
    await agent.runAgent({
      resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { text: 'Bern' } }],
    })

    expect(text()).toBe('Which city?You said Bern.')
  })

  it('performs tools that the client has offered, and continues with their results', async () => {
    const { agent, text } = open('picker')
    const tools = ['pickColor', 'pickSize'].map((name) => ({ name, description: name, parameters: {} }))
    await agent.runAgent({ tools })
    expect(agent.pendingInterrupts).toEqual([])
    const calls = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    expect(calls.map(({ id, function: { name } }) => [id, name])).toEqual([
      ['call_pick', 'pickColor'],
      ['call_size', 'pickSize'],
    ])

    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'call_pick', content: 'red' })
    agent.addMessage({ id: 't2', role: 'tool', toolCallId: 'call_size', content: '', error: 'closed' })
    const messages = [...agent.messages]
    await agent.runAgent({ tools, runId: 'picked' })
    expect(text()).toBe('You offer 2 tools.Color red, size closed.')

    const again = open('picker', { threadId: agent.threadId, messages })
    await again.agent.runAgent({ tools, runId: 'picked' })
    expect(again.text()).toBe(text())
    expect(again.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(2)
  })

  it('asks for tools that the client has not offered as interrupts', async () => {
    const { agent, text } = open('picker')
    await agent.runAgent()
    expect(agent.pendingInterrupts).toMatchObject([
      { id: 'call_pick', reason: 'client_tool', metadata: { name: 'pickColor', payload: { of: ['red', 'blue'] } } },
      { id: 'call_size', reason: 'client_tool', message: 'Which size?' },
    ])
    await agent.runAgent({
      resume: [
        { interruptId: 'call_pick', status: 'resolved', payload: 'blue' },
        { interruptId: 'call_size', status: 'cancelled' },
      ],
    })
    expect(text()).toBe('You offer 0 tools.Color blue, size cancelled.')
  })

  it.each([
    ['an answer that is not a boolean', 'validation-failed', { approved: 'yes' }],
    ['an unknown interrupt', 'approval-not-found', undefined],
    ['answers to only some interrupts', 'interrupts-open', { approved: true }],
  ])('refuses %s, and decides nothing', async (_, code, payload) => {
    const asker = open('asker')
    await asker.agent.runAgent()
    const [first] = asker.agent.pendingInterrupts
    const resume = [{ interruptId: payload === undefined ? 'apr_none' : first?.id, status: 'resolved', payload }]
    const answer = await answerOf('asker', { threadId: asker.agent.threadId, resume })

    expect(answer).toContain(`"code":"${code}"`)
    expect((await server.approvals(asker.runId())).length).toBe(2)
  })

  it('attaches again to a run that already asks the next question when its decision is repeated', async () => {
    const first = open('teller-suspended')
    await first.agent.runAgent()
    const resume = first.agent.pendingInterrupts.map(({ id }) => ({
      ...{ interruptId: id, status: 'resolved' as const, payload: { approved: true } },
    }))
    const asked = first.agent.pendingInterrupts
    await first.agent.runAgent({ runId: 'r2', resume })
    expect(first.agent.pendingInterrupts).toMatchObject([{ message: 'Decide mail.' }])

    const again = open('teller-suspended', { threadId: first.agent.threadId, messages: first.agent.messages })
    again.agent.pendingInterrupts = asked
    await again.agent.runAgent({ runId: 'r2', resume })
    expect(again.agent.pendingInterrupts).toMatchObject([{ message: 'Decide mail.' }])
    expect(again.text()).toBe(first.text())
  })

  it('reports an answer to an interrupt that has expired, and takes none', async () => {
    const { agent, runId } = open('hasty')
    await agent.runAgent()
    const expired = () => server.itemsOf<{ readonly id: string }>(`/approvals?status=expired&runId=${runId()}`)
    await eventually(expired).toHaveLength(1)
    // The code of the run continues after the approval has expired.
    const statusOf = async () => (await server.get<{ status: string }>(`/runs/${runId()}/state`)).body.status
    await eventually(statusOf).toBe('suspended')
    const resume = [{ interruptId: (await expired())[0]?.id, status: 'resolved', payload: { approved: true } }]
    expect(await answerOf('hasty', { threadId: agent.threadId, resume })).toContain('"code":"interrupt-expired"')

    const again = open('hasty', { threadId: agent.threadId, messages: agent.messages })
    again.agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'call_pick', content: 'red' })
    await again.agent.runAgent()

    expect(again.text()).toBe('Approved: false, expired.')
  })

  it('continues with a decision that somebody else took meanwhile, and takes the other answers', async () => {
    const { agent, text, events } = open('asker')
    await agent.runAgent()
    const [first, second] = agent.pendingInterrupts
    expect((await server.resolve(first?.id ?? '', false)).status).toBe(200)
    const resume = [first, second].map((one) => ({
      ...{ interruptId: one?.id ?? '', status: 'resolved' as const, payload: { approved: true } },
    }))
    await agent.runAgent({ resume })

    expect(text()).toBe('I need your approval.Sent: 1.')
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'CUSTOM', value: expect.objectContaining({ approved: false }) }),
    )
    expect(agent.messages).toContainEqual(expect.objectContaining({ role: 'tool', toolCallId: 'call_b' }))
  })

  it('gives another owner an empty thread of the same id, and no run of the first one', async () => {
    const threadId = 'of-both'
    const first = open('memo', { threadId })
    await first.agent.runAgent()
    first.agent.addMessage({ id: 'more', role: 'user', content: 'more' })
    await first.agent.runAgent()
    expect(first.text()).toMatch(/^1: x3: more$/)
    const token = await createToken(server.sandbox, 'agents:invoke', 'somebody-else')
    const { sessionId } = (await server.get<{ sessionId: string }>(`/runs/${first.runId()}`)).body
    for (const theirs of [threadId, sessionId]) {
      const other = open('memo', { threadId: theirs, on: { url: server.url, token } })
      await other.agent.runAgent()
      expect(other.text(), theirs).toBe('1: x')
      expect(other.events.find(({ type }) => type === 'RUN_STARTED')).toMatchObject({ threadId: theirs })
    }
    const path = `${server.url()}/agents/memo/ag-ui/${first.runId()}`
    expect((await fetch(path, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404)
  })

  it('refuses a new message while interrupts are open', async () => {
    const { agent } = open('asker')
    await agent.runAgent()
    const later = open('asker', { threadId: agent.threadId })
    await later.agent.runAgent().catch(() => undefined)

    expect(later.events).toContainEqual(expect.objectContaining({ type: 'RUN_ERROR', code: 'interrupts-open' }))
  })

  it.each([
    ['HttpAgent 0.0.59', OlderHttpAgent],
    ['PerdureHttpAgent', PerdureHttpAgent],
  ])('works behind a runtime, as that of CopilotKit, with %s', async (_, Agent) => {
    const runtime = await openRuntime(
      new Agent({ url: `${server.url()}/agents/asker/ag-ui`, headers: { Authorization: `Bearer ${server.token}` } }),
    )
    const front = new OlderHttpAgent({
      url: runtime.url,
      initialMessages: [{ id: 'q', role: 'user', content: 'x' }],
    })
    await front.runAgent()
    const resume = front.pendingInterrupts.map(({ id: interruptId }, index) => ({
      ...{ interruptId, status: 'resolved' as const, payload: { approved: index === 0 } },
    }))
    expect(resume).toHaveLength(2)
    await front.runAgent({ resume })

    expect(front.pendingInterrupts).toEqual([])
    expect(textOf(front.messages as Message[])).toBe('I need your approval.Sent: 1.')
    const results = front.messages.filter(({ role }) => role === 'tool')
    expect(results).toMatchObject([{ toolCallId: 'call_a' }, { toolCallId: 'call_b' }])
    runtime.close()
  })

  it('reports a failure and an abort', async () => {
    const [failer, gated] = [open('failer'), open('gated')]
    await failer.agent.runAgent().catch(() => undefined)
    const running = gated.agent.runAgent().catch(() => undefined)
    await eventually(() => gated.text()).toBe('Before. ')
    await server.post(`/runs/${gated.runId()}/abort`, {})
    await running

    expect(failer.events.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      message: expect.stringMatching(/^An error occurred \(run run_\w+\)$/),
    })
    expect(gated.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
  })

  it.each(['tooler', 'asker', 'stateful', 'plain', 'picker'])(
    'shows %s the same after a cut at any event',
    async (agentId) => {
      const uncut = open(agentId)
      await uncut.agent.runAgent()
      const expected = shownBy(uncut.agent.messages, uncut.runId())
      for (let k = 1; k <= uncut.events.length; k += 2) {
        const runId = `run-${agentId}-${k}`
        const cut = open(agentId, { threadId: `cut-${agentId}-${k}`, fetch: cutAfter(k) })
        await cut.agent.runAgent({ runId }).catch(() => undefined)
        const again = open(agentId, { threadId: cut.agent.threadId, messages: cut.agent.messages })
        await again.agent.runAgent({ runId })

        expect(shownBy(again.agent.messages, again.runId()), `cut after ${k}`).toEqual(expected)
        expect(again.agent.state).toEqual(uncut.agent.state)
      }
    },
  )

  it('keeps a tool call and its result over kills', async () => {
    const killed = await startDurableServer(CONFIG)
    const first = open('picker', { on: killed, fetch: endAtBreak })
    await first.agent.runAgent()
    await killed.restart()
    const url = `${killed.url()}/agents/picker/ag-ui`
    const resume = first.agent.pendingInterrupts.map(({ id: interruptId }) => ({
      interruptId,
      status: 'resolved',
      payload: 1,
    }))
    const request = {
      method: 'POST',
      headers: { authorization: `Bearer ${killed.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ threadId: first.agent.threadId, runId: 'r2', messages: first.agent.messages, resume }),
    }
    await fetch(url, request).then((response) => response.body?.cancel())
    await killed.restart()

    const again = open('picker', { on: killed, threadId: first.agent.threadId, messages: first.agent.messages })
    again.agent.pendingInterrupts = first.agent.pendingInterrupts
    await again.agent.runAgent({ runId: 'r2', resume: resume as never })
    expect(again.text()).toBe('You offer 0 tools.Color 1, size 1.')
    // The second kill can come between the line in the ledger, which no durable call writes, and the end of the run.
    expect(new Set(killed.ledger())).toEqual(new Set(['picked 1']))
  })

  it('continues after the server was killed, and says nothing twice', async () => {
    const killed = await startDurableServer(CONFIG)
    const first = open('crasher', { on: killed, fetch: endAtBreak })
    const running = first.agent.runAgent({ runId: 'crash' }).catch(() => undefined)
    await eventually(() => first.text()).toMatch(/c10 $/)
    await killed.restart()
    await running

    const again = open('crasher', { on: killed, threadId: first.agent.threadId, messages: first.agent.messages })
    await again.agent.runAgent({ runId: 'crash' })
    const words = Array.from({ length: 10 }, (_, n) => `c${n + 1} `).join('')
    expect(again.text()).toBe(`First. ${words}Last.`)
    expect(killed.ledger()).toEqual(['crashed'])
  })
})
