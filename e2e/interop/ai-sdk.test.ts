import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { CLIENTS, type Message, openChat, textOf, toolsOf, type Version } from './headless-chat.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, {}, (end) => {
    kill = end
  })
})
afterAll(() => kill())

const open = (version: Version, agentId: string, more: object = {}) =>
  openChat({ url: server.url(), token: server.token, agentId, version, ...more })

/** The parts without what only the client knows. */
const partsOf = (message: Message | undefined) => JSON.parse(JSON.stringify(message?.parts ?? []))

/** Reads the response of a request and stops after `k` chunks, as a page does that is closed. */
function cutAfter(k: number): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request)
    let blocks = 0
    const cut = new TransformStream<string, string>({
      transform(text, controller) {
        for (const block of text.split(/(?<=\n\n)/)) {
          if (blocks >= k) return controller.terminate()
          if (block.startsWith('id') || block.startsWith('data')) blocks += 1
          controller.enqueue(block)
        }
      },
    })
    const body = response.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(cut)
      .pipeThrough(new TextEncoderStream())
    return new Response(body ?? null, response)
  }
}

describe.each([6, 7] as const)('the AI SDK %i', (version) => {
  it('shows the text of an answer', async () => {
    const { chat, answer, text, errors } = open(version, 'talker')
    await chat.sendMessage({ text: 't' })

    expect(text()).toBe(Array.from({ length: 40 }, (_, n) => `t${n + 1} `).join(''))
    expect(answer().id).toMatch(/^msg_run_/)
    expect(chat.status).toBe('ready')
    expect(errors).toEqual([])
  })

  it('shows the result of a run that says nothing, and a returned stream', async () => {
    const [plain, returner] = [open(version, 'plain'), open(version, 'returner')]
    await plain.chat.sendMessage({ text: 'x' })
    await returner.chat.sendMessage({ text: 'x' })

    expect([plain.text(), returner.text()]).toEqual(['forty-two', 'Hello there'])
    expect(returner.answer().metadata).toBeUndefined()
  })

  it('shows tool calls with their results and errors', async () => {
    const { chat, answer } = open(version, 'tooler')
    await chat.sendMessage({ text: 'x' })

    expect(toolsOf(answer())).toMatchObject([
      {
        toolCallId: 'call_1',
        toolName: 'mail',
        state: 'output-available',
        input: { to: 'call_1' },
        output: { sent: 'call_1' },
      },
      {
        toolCallId: 'call_2',
        state: 'output-error',
        errorText: expect.stringMatching(/^An error occurred \(run run_\w+\)$/),
      },
    ])
    expect(answer().parts.find(({ type }) => type === 'reasoning')).toMatchObject({ text: 'I should write two mails.' })
  })

  it('shows state, data, sources and files', async () => {
    const { chat, answer } = open(version, 'stateful')
    await chat.sendMessage({ text: 'x' })

    expect(partsOf(answer())).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'data-state', data: { city: 'Basel', visits: 1 } }),
        expect.objectContaining({ type: 'data-weather', data: { celsius: 4 } }),
        expect.objectContaining({ type: 'source-url', url: 'https://example.com/weather' }),
        expect.objectContaining({ type: 'file', url: 'https://example.com/map.png' }),
        expect.objectContaining({ type: 'data-weather.seen', data: { celsius: 4 } }),
      ]),
    )
    expect(answer().parts.filter(({ type }) => type === 'data-weather')).toHaveLength(1)
  })

  it('asks for two approvals and continues once both are answered, in the same message', async () => {
    const opened = open(version, 'asker')
    const { chat, answer, text, messages } = opened
    await chat.sendMessage({ text: 'x' })
    const asked = toolsOf(answer())
    expect(asked.map(({ state }) => state)).toEqual(['approval-requested', 'approval-requested'])

    await chat.addToolApprovalResponse({ id: asked[0]?.approval?.id ?? '', approved: true })
    await chat.addToolApprovalResponse({ id: asked[1]?.approval?.id ?? '', approved: false, reason: 'not B' })
    await eventually(() => text()).toBe('I need your approval.Sent: 1.')
    await eventually(() => chat.status).toBe('ready')

    expect(toolsOf(answer()).map(({ state }) => state)).toEqual(['output-available', 'output-denied'])
    expect(messages()).toHaveLength(2)
  })

  it('asks for an approval that no tool needs, also of a child run', async () => {
    for (const agentId of ['approver', 'parent']) {
      const { chat, answer, text } = open(version, agentId)
      await chat.sendMessage({ text: 'x' })
      const [asked] = toolsOf(answer())
      expect(asked).toMatchObject({ toolName: 'approval.refund', state: 'approval-requested' })
      await chat.addToolApprovalResponse({ id: asked?.approval?.id ?? '', approved: true })

      await eventually(() => text()).toMatch(agentId === 'parent' ? /is done\.$/ : /^Refunded by e2e\.$/)
      expect(toolsOf(answer())).toMatchObject([{ state: 'output-available', output: { approved: true } }])
    }
  })

  it('takes the answer to an approval of a child run whose other code still executes', async () => {
    const { chat, answer, text } = open(version, 'busyparent')
    await chat.sendMessage({ text: 'x' })
    await chat.addToolApprovalResponse({ id: toolsOf(answer())[0]?.approval?.id ?? '', approved: true })

    await eventually(() => text()).toBe('Approved: true.')
  })

  it('takes a decision of somebody else over its own', async () => {
    const { chat, answer, text, dataParts } = open(version, 'approver')
    await chat.sendMessage({ text: 'x' })
    const id = toolsOf(answer())[0]?.approval?.id ?? ''
    expect((await server.resolve(id, false)).status).toBe(200)
    await chat.addToolApprovalResponse({ id, approved: true })

    await eventually(() => text()).toBe('Not refunded.')
    expect(dataParts).toContainEqual(
      expect.objectContaining({ type: 'data-perdure-decision', data: expect.objectContaining({ approved: false }) }),
    )
  })

  it('passes the next message to a run that asked for input', async () => {
    const { chat, messages } = open(version, 'suspender')
    await chat.sendMessage({ text: 'x' })
    expect(chat.status).toBe('ready')
    await chat.sendMessage({ text: 'Bern' })

    expect(messages().map(textOf)).toEqual(['x', 'Which city?', 'Bern', 'You said Bern.'])
    const { body } = await server.get<Message[]>(`/agents/suspender/chat/${chat.id}/messages`)
    expect(body.map(({ id }) => id)).toEqual(messages().map(({ id }) => id))
    expect(body.map(textOf)).toEqual(messages().map(textOf))
  })

  it('keeps the stream open while the run sleeps, and reports a failure', async () => {
    const [sleeper, failer] = [open(version, 'sleeper'), open(version, 'failer')]
    await Promise.all([sleeper.chat.sendMessage({ text: 'x' }), failer.chat.sendMessage({ text: 'x' })])

    expect(sleeper.text()).toBe('Wait.Done.')
    expect(failer.text()).toBe('So far so good.')
    expect(failer.chat.status).toBe('error')
    expect(failer.errors).toEqual([expect.stringMatching(/^An error occurred \(run run_\w+\)$/)])
  })

  it.each(['tooler', 'asker', 'stateful', 'plain', 'returner', 'failer', 'picker'])(
    'resumes the stream of %s at any point with the same parts',
    async (agentId) => {
      const uncut = open(version, agentId)
      await uncut.chat.sendMessage({ text: 'x' })
      const expected = partsOf(uncut.answer())
      for (let k = 1; k < 40; k += 2) {
        const cut = open(version, agentId, {
          fetch: cutAfter(k),
          id: `cut-${version}-${agentId}-${k}`,
          isAutomatic: false,
        })
        await cut.chat.sendMessage({ text: 'x' })
        const again = open(version, agentId, { id: cut.chat.id, messages: cut.messages(), isAutomatic: false })
        await again.chat.resumeStream()

        expect(withoutIds(partsOf(again.answer())), `cut after ${k}`).toEqual(withoutIds(expected))
      }
    },
  )

  it('shows a chat again from its messages', async () => {
    for (const agentId of ['tooler', 'stateful', 'plain', 'asker']) {
      const { chat, messages } = open(version, agentId)
      await chat.sendMessage({ text: 'What now?' })
      const path = `/agents/${agentId}/chat/${encodeURIComponent(chat.id)}/messages`
      const { body } = await server.get<Message[]>(path)

      expect(body.map(({ id }) => id)).toEqual(messages().map(({ id }) => id))
      expect(body.map(textOf)).toEqual(messages().map(textOf))
      expect(body.at(-1)?.parts).toMatchObject(partsOf(messages().at(-1)))
    }
  })

  it('resumes nothing in a chat that does not exist', async () => {
    const { chat, messages } = open(version, 'talker', { id: `none-${version}` })
    await chat.resumeStream()

    expect(messages()).toEqual([])
  })

  it('answers a repeated message once', async () => {
    const { chat, transport, messages } = open(version, 'plain', { id: `twice-${version}` })
    await chat.sendMessage({ text: 'x' })
    const [question] = messages()
    const stream = await transport.sendMessages({
      ...{ chatId: chat.id, messages: [question as Message], trigger: 'submit-message', messageId: undefined },
      abortSignal: undefined,
    })
    let answer: Message | undefined
    for await (const message of CLIENTS[version].readUIMessageStream<Message>({ stream })) answer = message

    expect(answer?.id).toBe(messages()[1]?.id)
  })

  it('answers again when asked to regenerate', async () => {
    const { chat, answer, messages } = open(version, 'plain')
    await chat.sendMessage({ text: 'x' })
    const first = answer().id
    await chat.regenerate()

    expect(answer().id).not.toBe(first)
    const { body } = await server.get<Message[]>(`/agents/plain/chat/${chat.id}/messages`)
    expect(body.map(({ id }) => id)).toEqual(messages().map(({ id }) => id))
  })

  it('performs tools of the page, and continues with their results in the same message', async () => {
    const asked: unknown[] = []
    const { chat, answer, text, errors, messages } = open(version, 'picker', {
      body: { tools: [{ name: 'pickColor', parameters: { type: 'object' } }, { name: 'pickSize' }] },
      onToolCall: ({ toolCall }: { toolCall: unknown }) => void asked.push(toolCall),
    })
    await chat.sendMessage({ text: 'x' })
    expect(asked).toMatchObject([
      { toolCallId: 'call_pick', toolName: 'pickColor', input: { of: ['red', 'blue'] } },
      { toolCallId: 'call_size', toolName: 'pickSize', input: {} },
    ])
    expect(toolsOf(answer()).map(({ state }) => state)).toEqual(['input-available', 'input-available'])

    await chat.addToolOutput({ tool: 'pickColor', toolCallId: 'call_pick', output: 'red' })
    await chat.addToolOutput({ state: 'output-error', tool: 'x', toolCallId: 'call_size', errorText: 'closed' })
    await eventually(() => text()).toBe('You offer 2 tools.Color red, size closed.')
    await eventually(() => chat.status).toBe('ready')

    expect(messages()).toHaveLength(2)
    expect(toolsOf(answer())).toMatchObject([
      { state: 'output-available', output: 'red' },
      { state: 'output-error', errorText: 'closed' },
    ])
    expect(errors).toEqual([])
  })

  it('sends the results of a run that says nothing more once', async () => {
    let requests = 0
    const { chat, answer } = open(version, 'silentpicker', {
      fetch: (...request: Parameters<typeof fetch>) => {
        requests += 1
        return fetch(...request)
      },
    })
    await chat.sendMessage({ text: 'x' })
    await chat.addToolOutput({ tool: 'pickColor', toolCallId: 'call_pick', output: 'red' })
    await eventually(() => chat.status).toBe('ready')
    await eventually(async () => (await server.get(`/runs/${answer().id.slice(4)}`)).body.status).toBe('completed')

    expect(requests).toBe(2)
  })

  it('takes a repeated or forged tool result once or not at all', async () => {
    const mine = open(version, 'picker', { isAutomatic: false })
    const other = open(version, 'silentpicker', { isAutomatic: false })
    await Promise.all([mine.chat.sendMessage({ text: 'x' }), other.chat.sendMessage({ text: 'x' })])
    const post = async (answer: Message, output: unknown) => {
      const parts = answer.parts.map((part) =>
        'toolCallId' in part ? { ...part, state: 'output-available', output } : part,
      )
      return fetch(`${server.url()}/agents/picker/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id: mine.chat.id, messages: [{ ...answer, parts }] }),
      })
    }
    expect((await post(other.answer(), 'forged')).status).toBe(400)
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(mine.answer(), 'red')))
    const texts = await Promise.all(answers.map((response) => response.text()))

    expect(new Set(texts.map((text) => /Color \w+, size \w+/.exec(text)?.[0]))).toEqual(
      new Set(['Color red, size red']),
    )
  })

  it('ignores approvals of another chat', async () => {
    const mine = open(version, 'approver')
    const other = open(version, 'approver')
    await Promise.all([mine.chat.sendMessage({ text: 'x' }), other.chat.sendMessage({ text: 'x' })])
    const part = {
      ...toolsOf(mine.answer())[0],
      approval: { id: toolsOf(other.answer())[0]?.approval?.id, approved: true },
    }
    const forged = { ...mine.answer(), parts: [{ ...part, state: 'approval-responded' }] }
    const { status } = await server
      .post('/agents/approver/chat', { id: mine.chat.id, messages: [forged] })
      .catch(textAnswer)

    expect(status).toBe(400)
    const path = `/runs/${other.answer().id.slice(4)}`
    expect((await server.get(path)).body.status).toBe('suspended')
  })

  it('stops the run', async () => {
    const opened = open(version, 'gated')
    const sent = opened.chat.sendMessage({ text: 'x' })
    await eventually(() => opened.text()).toBe('Before. ')
    const { body } = await server.post(`/agents/gated/chat/${opened.chat.id}/stop`, {})
    await sent

    expect(body).toMatchObject({ status: 'aborted' })
    expect(opened.text()).toBe('Before. ')
  })
})

const textAnswer = () => ({ status: 400 })

/** Ids that differ between runs. */
function withoutIds(parts: unknown): unknown {
  return JSON.parse(JSON.stringify(parts).replace(/(run|apr)_[0-9a-zA-Z]+/g, '$1'), (key, value) =>
    key === 'id' || (key === 'toolCallId' && !String(value).startsWith('call_')) ? undefined : value,
  )
}

describe.each([6, 7] as const)('a server that is killed while the AI SDK %i reads', (version) => {
  it('continues the answer of a run that was executing, and says nothing twice', async () => {
    const killed = await startDurableServer(CONFIG)
    const target = { url: killed.url(), token: killed.token, agentId: 'crasher', version, id: `crash-${version}` }
    const opened = openChat(target)
    const sent = opened.chat.sendMessage({ text: 'x' })
    await eventually(() => opened.text()).toMatch(/c10 $/)
    await killed.restart()
    await sent

    const again = openChat({ ...target, url: killed.url(), messages: opened.messages() })
    await again.chat.resumeStream()
    const words = Array.from({ length: 10 }, (_, n) => `c${n + 1} `).join('')
    expect(again.text()).toBe(`First. ${words}Last.`)
    expect(killed.ledger()).toEqual(['crashed'])
  })

  it('shows a pending approval after a restart, and takes the answer', async () => {
    const killed = await startDurableServer(CONFIG)
    const target = { url: killed.url(), token: killed.token, agentId: 'asker', version, id: `ask-${version}` }
    await openChat(target).chat.sendMessage({ text: 'x' })
    await killed.restart()

    const reloaded = openChat({ ...target, url: killed.url() })
    await reloaded.chat.resumeStream()
    const asked = toolsOf(reloaded.answer())
    expect(asked.map(({ state }) => state)).toEqual(['approval-requested', 'approval-requested'])
    for (const { approval } of asked) {
      await reloaded.chat.addToolApprovalResponse({ id: approval?.id ?? '', approved: true })
    }
    await eventually(() => reloaded.text()).toBe('I need your approval.Sent: 2.')
  })

  it('shows a reader that is connected during the crash the text once', async () => {
    const killed = await startDurableServer(CONFIG)
    const target = { url: killed.url(), token: killed.token, agentId: 'crasher', version, id: `join-${version}` }
    const first = openChat(target)
    const sent = first.chat.sendMessage({ text: 'x' })
    await eventually(() => first.text()).toMatch(/c10 $/)
    await killed.restart()
    await sent
    appendFileSync(killed.sandbox.env.E2E_LEDGER ?? '', 'gate\n')
    await eventually(async () => {
      const { body } = await killed.get<Message[]>(`/agents/crasher/chat/join-${version}/messages`)
      return textOf(body.at(-1))
    }).toMatch(/^First\. c1 .*c10 Last\.$/)
  })
})
