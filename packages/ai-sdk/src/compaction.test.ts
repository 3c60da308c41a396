import { createInMemoryStorage } from '@perdure/in-memory'
import { type ModelMessage, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cutAfter } from './cut-storage.fixture.ts'
import { type ChatHistory, type Compactor, chatAgent, summarize } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { type ScriptedCall, scriptedModel } from './testing.ts'

const echo = (calls: ScriptedCall[] = []) =>
  scriptedModel(({ text }) => `You said: ${text}`, { onCall: (call) => calls.push(call) })

/** Each message of a prompt as its role and the text of its first part. */
const said = ({ prompt }: Pick<ScriptedCall, 'prompt'>): readonly string[] =>
  prompt.map(({ role, content }) => {
    const [first] = content as { readonly text?: string; readonly type: string }[]
    return `${role}: ${typeof content === 'string' ? content : (first?.text ?? first?.type)}`
  })

/** Replaces everything but the newest message. */
const counting = (given: ModelMessage[][]): Compactor => {
  return (messages) => {
    given.push(messages)
    return [{ role: 'user', content: `summary ${given.length}` }, ...messages.slice(-1)]
  }
}

const texts = Array.from({ length: 6 }, (_, index) => `question ${index + 1} ${'x'.repeat(80)}`)

async function chatWith(history: ChatHistory, model: ReturnType<typeof echo>, storage = createInMemoryStorage()) {
  const world = await serverWith([chatAgent({ id: 'support', model, history, instructions: 'Be brief.' })], storage)
  const send = (text: string, ...parts: object[]) =>
    world.chat('support', { id: 'ada', messages: [userMessage(text.slice(0, 10), text, ...parts)] })
  return { ...world, send }
}

describe('a chat whose prompts are compacted', () => {
  it('continues after the recorded result, also in later turns, with the same prefix', async () => {
    const calls: ScriptedCall[] = []
    const given: ModelMessage[][] = []
    const { send, get } = await chatWith({ maxTokens: 100, compact: counting(given) }, echo(calls))
    for (const text of texts) await send(text)

    // Two turns have 96 tokens, and each later one adds about 46.
    expect(calls.map((call) => said(call).map((line) => line.slice(0, 17)))).toMatchObject([
      ['system: Be brief.', 'user: question 1 '],
      ['system: Be brief.', 'user: question 1 ', 'assistant: You sa', 'user: question 2 '],
      ['system: Be brief.', 'user: summary 1', 'user: question 3 '],
      ['system: Be brief.', 'user: summary 1', 'user: question 3 ', 'assistant: You sa', 'user: question 4 '],
      ['system: Be brief.', 'user: summary 2', 'user: question 5 '],
      ['system: Be brief.', 'user: summary 2', 'user: question 5 ', 'assistant: You sa', 'user: question 6 '],
    ])
    const [, , third, fourth] = calls
    expect(JSON.stringify(fourth?.prompt)).toContain(JSON.stringify(third?.prompt).slice(1, -1))
    expect(given).toHaveLength(2)
    expect(await get('/agents/support/chat/ada/messages')).toHaveLength(12)
  })

  it('sees the whole conversation again after the turn that compacted it was edited', async () => {
    const calls: ScriptedCall[] = []
    const { send, chat } = await chatWith({ maxTokens: 110, compact: counting([]) }, echo(calls))
    for (const text of texts.slice(0, 3)) await send(text)
    await chat('support', { id: 'ada', messageId: 'question 3', messages: [userMessage('question 3', 'short')] })

    expect(said(calls.at(-1) as ScriptedCall).map((line) => line.slice(0, 17))).toEqual([
      ...['system: Be brief.', 'user: question 1 ', 'assistant: You sa', 'user: question 2 ', 'assistant: You sa'],
      'user: short',
    ])
  })

  it('sees the whole conversation in a fork of the chat, which has no recorded summary', async () => {
    const calls: ScriptedCall[] = []
    const given: ModelMessage[][] = []
    const { send, chat, get } = await chatWith({ maxTokens: 110, compact: counting(given) }, echo(calls))
    for (const text of texts.slice(0, 3)) await send(text)
    const fork = await get<{ chatId: string }>('/agents/support/chats/ada/fork', { chatId: 'copy' })
    expect(fork).toMatchObject({ chatId: 'copy' })
    await chat('support', { id: 'copy', messages: [userMessage('u9', 'short')] })

    // The prompt of the fork is as long as the one before, so it is compacted too.
    const [, whole] = given
    expect(whole?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
    expect(await get('/agents/support/chat/copy/messages')).toHaveLength(8)
  })

  it('keeps files by reference, and gives their bytes to the model', async () => {
    const calls: ScriptedCall[] = []
    const keepAll: Compactor = (messages) => messages
    const storage = createInMemoryStorage()
    const { send, get } = await chatWith({ maxTokens: 500, compact: keepAll }, echo(calls), storage)
    await send('look', { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' })
    await send('and now')

    const [run] = (await get<{ items: { id: string }[] }>('/runs?agentId=support&order=asc')).items
    const steps = await storage.steps.list(run?.id ?? '')
    const recorded = steps.find(({ name }) => name === 'session.compact')
    expect(recorded?.status).toBe('completed')
    expect(JSON.stringify(recorded)).not.toContain('iVBORw0KGgo')
    const bytesIn = (call?: ScriptedCall) => JSON.stringify(call?.prompt).includes('{"0":137,"1":80')
    expect(calls.map(bytesIn)).toEqual([true, true])
  })

  it.each([6, 7] as const)('is compacted between two calls of one turn (page of version %s)', async (version) => {
    const prompts: (readonly string[])[] = []
    const look = tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => `${n} ${'y'.repeat(400)}` })
    const model = scriptedModel(({ prompt }) => {
      prompts.push(said({ prompt }))
      return prompts.length < 6 ? { toolName: 'look', input: { n: prompts.length } } : 'Done.'
    }, {})
    const given: ModelMessage[][] = []
    const compact: Compactor = (messages) => {
      given.push(messages)
      return [{ role: 'user', content: `summary ${given.length}` }, ...messages.slice(-2)]
    }
    const world = await serverWith([
      chatAgent({ id: 'support', model, tools: { look }, stopWhen: () => false, history: { maxTokens: 250, compact } }),
    ])
    const chunks = await world.chat('support', { id: 'ada', messages: [userMessage('u1', 'Go')] }, version)

    expect(chunks.at(-1)).toMatchObject({ type: 'finish' })
    expect(prompts.map((lines) => lines.map((line) => line.slice(0, 15)))).toEqual([
      ['user: Go'],
      ['user: Go', 'assistant: tool-call'.slice(0, 15), 'tool: tool-resu'],
      ['user: Go', 'assistant: tool', 'tool: tool-resu', 'assistant: tool', 'tool: tool-resu'],
      ['user: summary 1', 'assistant: tool', 'tool: tool-resu'],
      ['user: summary 1', 'assistant: tool', 'tool: tool-resu', 'assistant: tool', 'tool: tool-resu'],
      ['user: summary 2', 'assistant: tool', 'tool: tool-resu'],
    ])
    await world.chat('support', { id: 'ada', messages: [userMessage('u2', 'And?')] }, version)
    expect(prompts.at(-1)?.map((line) => line.slice(0, 15))).toEqual([
      ...['user: summary 2', 'assistant: tool', 'tool: tool-resu', 'assistant: Done', 'user: And?'],
    ])
  })

  it('keeps its prompts after a crash at any commit of the turn that compacts', async () => {
    const promptsOf = async (storage: ReturnType<typeof createInMemoryStorage>, calls: ScriptedCall[]) => {
      let compactions = 0
      const compact: Compactor = (messages) => [
        { role: 'user', content: `summary ${++compactions} of ${messages.length}` },
        ...messages.slice(-1),
      ]
      return chatWith({ maxTokens: 100, compact }, echo(calls), storage)
    }
    const whole = createInMemoryStorage()
    const counted = cutAfter(whole, Number.POSITIVE_INFINITY)
    const first = await promptsOf(counted.storage, [])
    for (const text of texts.slice(0, 2)) await first.send(text)
    const before = counted.count()
    await first.send(texts[2] as string)
    const all = counted.count()

    for (let cut = before + 1; cut < all; cut++) {
      const storage = createInMemoryStorage()
      const broken = cutAfter(storage, cut)
      const sending = (async () => {
        const dying = await promptsOf(broken.storage, [])
        for (const text of texts.slice(0, 3)) await dying.send(text)
      })()
      await Promise.race([broken.isCut, sending])
      const after: ScriptedCall[] = []
      const next = await promptsOf(storage, after)
      for (const text of texts.slice(0, 4)) await next.send(text)
      const last = said(after.at(-1) as ScriptedCall).map((line) => line.slice(0, 20))
      expect(last, `cut ${cut} of ${all}`).toEqual([
        ...[
          'system: Be brief.',
          'user: summary 1 of 5',
          'user: question 3 xxx',
          'assistant: You said:',
          'user: question 4 xxx',
        ],
      ])
    }
  })
})

describe('summarize', () => {
  it('lets the model summarize the older turns once, and charges the call to the run', async () => {
    const calls: ScriptedCall[] = []
    const model = scriptedModel(
      ({ text }) => (text.startsWith('Summarize') ? 'Ada asked three things.' : `You said: ${text}`),
      { onCall: (call) => calls.push(call) },
    )
    const compact = summarize({ model, keepTurns: 2 })
    const { send, get } = await chatWith({ maxTokens: 160, compact }, model)
    for (const text of texts.slice(0, 5)) await send(text)

    const asked = calls.filter(({ text }) => text.startsWith('Summarize'))
    expect(asked).toHaveLength(1)
    expect(asked[0]?.text).toContain('user: question 1')
    expect(asked[0]?.text).not.toContain('user: question 3')
    expect(said(calls.at(-1) as ScriptedCall).map((line) => line.slice(0, 40))).toMatchObject([
      'system: Be brief.',
      'user: Summary of the conversation so far',
      ...['user: question 3', 'assistant: You said: question 3'].map((line) => expect.stringContaining(line)),
      ...['user: question 4', 'assistant: You said: question 4'].map((line) => expect.stringContaining(line)),
      expect.stringContaining('user: question 5'),
    ])
    const { items } = await get<{ items: { usage: { inputTokens: number } }[] }>('/runs?agentId=support&order=asc')
    const tokens = items.map(({ usage }) => usage.inputTokens)
    expect(tokens[3]).toBeGreaterThan(2 * (tokens[4] ?? 0) - 200)
  })

  it('is the default, with the model of the agent', async () => {
    const calls: ScriptedCall[] = []
    const { send } = await chatWith({ maxTokens: 100 }, echo(calls))
    for (const text of texts.slice(0, 3)) await send(text)

    expect(calls.some(({ text }) => text.startsWith('Summarize the conversation'))).toBe(true)
  })

  it('summarizes the steps of a turn that is too long alone, and keeps its question', async () => {
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Go' },
      ...Array.from({ length: 6 }, (_, n): ModelMessage[] => [
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `c${n}`, toolName: 'look', input: {} }] },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: `c${n}`,
              toolName: 'look',
              output: { type: 'text', value: `seen ${n}` },
            },
          ],
        },
      ]).flat(),
    ]
    const asked: ScriptedCall[] = []
    const model = scriptedModel(() => 'Four looks.', { onCall: (call) => asked.push(call) })
    let kept: readonly ModelMessage[] = []
    const agent = chatAgent({
      id: 'support',
      model: echo(),
      history: {
        maxTokens: 1,
        compact: async (own, options) => {
          kept = await summarize({ model })(messages, options)
          return own
        },
      },
    })
    const { chat } = await serverWith([agent])
    await chat('support', { id: 'ada', messages: [userMessage('u1', 'Hi')] })

    expect(asked[0]?.text).toContain('seen 3')
    expect(asked[0]?.text).not.toContain('seen 4')
    expect(kept.slice(0, 2)).toEqual([
      { role: 'user', content: 'Summary of the conversation so far:\nFour looks.' },
      { role: 'user', content: 'Go' },
    ])
    expect(kept.slice(2)).toEqual(messages.slice(-4))
  })

  it.each([0, 1.5])('refuses to keep %s turns', (keepTurns) => {
    expect(() => summarize({ model: echo(), keepTurns })).toThrow('keepTurns must be a whole number of at least 1')
  })
})

describe('a history that cannot be compacted', () => {
  it.each<[ChatHistory, string]>([
    [{ compact: (messages) => messages }, 'history.compact needs history.maxTokens'],
    [{ maxTokens: 0 }, 'history.maxTokens: must be a whole number'],
    [{ maxTokens: 1.5 }, 'history.maxTokens: must be a whole number'],
  ])('is refused when the agent is defined: %j', (history, message) => {
    expect(() => chatAgent({ id: 'support', model: echo(), history })).toThrow(message)
  })

  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: {} } as const
  it.each<[string, unknown, string]>([
    ['no messages', 'nothing', 'must return an array of messages'],
    ['messages without roles', [{ text: 'x' }], 'must return an array of messages'],
    ['an empty prompt', [], 'must keep the last message, which has the role user'],
    ['an answer at the end', [{ role: 'assistant', content: 'x' }], 'must keep the last message'],
    [
      'a call without its result',
      [
        { role: 'assistant', content: [call] },
        { role: 'user', content: 'x' },
      ],
      'must keep the call and the result of c1 together',
    ],
  ])('fails the turn with a clear error: %s', async (_, result, message) => {
    const { send, get } = await chatWith({ maxTokens: 1, compact: () => result as never }, echo())
    await send('Hi')

    const [run] = (await get<{ items: { id: string }[] }>('/runs?agentId=support')).items
    expect(await get(`/runs/${run?.id}`)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(message) },
    })
  })
})
