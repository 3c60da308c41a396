import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { type ScriptedCall, scriptedModel } from './testing.ts'

/** The prompt as role and text of its messages. */
const said = ({ prompt }: ScriptedCall): readonly unknown[] =>
  prompt.map(({ role, content }) => [role, (content as { text?: string; toolName?: string }[])[0]?.text ?? 'tool'])

/** A chat agent whose tool waits until the test lets it go on. */
async function busyChat(onBusy: 'queue' | readonly ['queue', 'steer']) {
  const calls: ScriptedCall[] = []
  const [{ promise: begun, resolve: begin }, { promise: gate, resolve: open }] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ]
  const look = tool({
    inputSchema: z.object({}),
    execute: async () => {
      begin()
      await gate
      return 'red'
    },
  })
  const call = { toolName: 'look', input: {} }
  const model = scriptedModel([[{ text: 'Let me see. ' }, call], call, 'It is red.', 'Next.', 'Last.'], {
    onCall: (asked) => calls.push(asked),
  })
  const agent = chatAgent({ id: 'support', onBusy, model, tools: { look } })
  const world = await serverWith([agent])
  const chat = (id: string, text: string, metadata?: object) =>
    world.chat('support', { id: 'ada', messages: [{ ...userMessage(id, text), metadata }] })
  const queued = async (count: number) => {
    const { items } = await world.get<{ items: { sessionId: string }[] }>('/runs?agentId=support')
    const sessionId = items[0]?.sessionId
    const read = () => world.get<{ items: { runId: string }[] }>(`/sessions/${sessionId}/queue`)
    while ((await read()).items.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
    return (await read()).items
  }
  return { ...world, calls, chat, begun, open, queued }
}

describe('a message while a chat agent works', () => {
  it('is handed to the model before its next answer when it steers', async () => {
    const { chat, begun, open, queued, calls, get } = await busyChat(['queue', 'steer'])
    const first = chat('u1', 'What colour?')
    await begun
    const second = chat('u2', 'Of the car.', { onBusy: 'steer' })
    const [waiting] = await queued(1)
    open()
    const chunks = await first

    expect(calls.map(said)).toEqual([
      [['user', 'What colour?']],
      [
        ['user', 'What colour?'],
        ['assistant', 'Let me see. '],
        ['tool', 'tool'],
        ['user', 'Of the car.'],
      ],
      [
        ['user', 'What colour?'],
        ['assistant', 'Let me see. '],
        ['tool', 'tool'],
        ['user', 'Of the car.'],
        ['assistant', 'tool'],
        ['tool', 'tool'],
      ],
    ])
    expect(chunks).toContainEqual({
      ...{ type: 'steering-message', id: 'u2' },
      parts: [{ type: 'text', text: 'Of the car.' }],
    })
    expect((await second).map(({ type }) => type)).toEqual(['start', 'finish'])
    const run = await get<{ withdrawnBy: string }>(`/runs/${waiting?.runId}`)
    expect(await get(`/runs/${waiting?.runId}/receipt`)).toEqual({
      ...{ runId: waiting?.runId, state: 'delivered', deliveredTo: run.withdrawnBy },
    })
  })

  it('shows the steering message at its place to the page and to the model of the next turn', async () => {
    const { chat, begun, open, queued, calls, get } = await busyChat(['queue', 'steer'])
    const first = chat('u1', 'What colour?')
    await begun
    const second = chat('u2', 'Of the car.', { onBusy: 'steer' })
    await queued(1)
    open()
    await Promise.all([first, second])
    await chat('u3', 'And now?')

    const messages = await get<{ role: string; parts: { type: string; text?: string }[] }[]>(
      '/agents/support/chat/ada/messages',
    )
    expect(messages.map(({ role, parts }) => [role, ...parts.map(({ type, text }) => text ?? type)])).toEqual([
      ['user', 'What colour?'],
      [
        ...['assistant', 'step-start', 'Let me see. ', 'tool-look', 'steering-message'],
        ...['step-start', 'tool-look', 'step-start', 'It is red.'],
      ],
      ['user', 'And now?'],
      ['assistant', 'step-start', 'Next.'],
    ])
    expect(calls.at(-1) && said(calls.at(-1) as ScriptedCall)).toEqual([
      ['user', 'What colour?'],
      ['assistant', 'Let me see. '],
      ['tool', 'tool'],
      ['user', 'Of the car.'],
      ['assistant', 'tool'],
      ['tool', 'tool'],
      ['assistant', 'It is red.'],
      ['user', 'And now?'],
    ])
  })

  it('waits for the end of the turn with the others, and they are one turn then', async () => {
    const { chat, begun, open, queued, calls, get } = await busyChat('queue')
    const first = chat('u1', 'What colour?')
    await begun
    const second = chat('u2', 'Of the car.')
    await queued(1)
    const third = chat('u3', 'The new one.')
    await queued(2)
    open()
    await first
    const answer = await second
    await third

    expect(calls).toHaveLength(4)
    expect(said(calls[3] as ScriptedCall).slice(-3)).toEqual([
      ['assistant', 'It is red.'],
      ['user', 'Of the car.'],
      ['user', 'The new one.'],
    ])
    expect(answer.some(({ type }) => type === 'text-delta')).toBe(true)
    const messages = await get<{ role: string }[]>('/agents/support/chat/ada/messages')
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user', 'assistant'])
  })

  it('can be edited and withdrawn while it waits', async () => {
    const { chat, begun, open, queued, calls, server, get } = await busyChat('queue')
    const change = (method: string, path: string, body?: object) =>
      server.fetch(
        new Request(`http://localhost/v1${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      )
    const first = chat('u1', 'What colour?')
    await begun
    const second = chat('u2', 'Of the car.')
    await queued(1)
    const third = chat('u3', 'Never mind.')
    const [edited, withdrawn] = await queued(2)

    const input = { messages: [{ role: 'user', content: [{ type: 'text', text: 'Of the house.' }] }] }
    expect((await change('PATCH', `/runs/${edited?.runId}`, { input })).status).toBe(200)
    expect((await change('POST', `/runs/${withdrawn?.runId}/withdraw`)).status).toBe(200)
    expect(await queued(1)).toHaveLength(1)
    open()
    await Promise.all([first, second, third])

    expect(said(calls[3] as ScriptedCall).at(-1)).toEqual(['user', 'Of the house.'])
    expect(await get(`/runs/${withdrawn?.runId}/receipt`)).toMatchObject({ state: 'withdrawn' })
    const messages = await get<{ role: string }[]>('/agents/support/chat/ada/messages')
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect((await change('POST', `/runs/${edited?.runId}/withdraw`)).status).toBe(409)
  })
})
