import { defineAgent } from '@perdure/core'
import { openChat } from '@perdure/server-app/testing'
import * as ai7 from 'ai'
import * as ai6 from 'ai6'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { scriptedModel } from './testing.ts'

const WORDS = 'You get eighty back for the red scarf'

/** A shop whose refunds wait for a person, and what its model and its tools were asked. */
function shop({ wordDelayMs = 0 } = {}) {
  const log: string[] = []
  const refund = ai7.tool({
    description: 'Refunds an order',
    inputSchema: z.object({ orderId: z.string() }),
    execute: ({ orderId }) => {
      log.push(`refund ${orderId}`)
      return { refunded: 80 }
    },
  })
  const agent = chatAgent({
    id: 'shop',
    onBusy: ['queue', 'steer'],
    tools: { refund },
    toolApproval: { refund: 'user-approval' },
    model: scriptedModel(
      ({ text, toolResults, prompt }) => {
        log.push(`model: ${text}`)
        if (text.startsWith('show'))
          return `I see ${prompt.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === 'file').length} files.`
        if (!text.startsWith('refund')) return `You said ${text}.`
        const [done] = toolResults
        if (done === undefined) return { toolName: 'refund', input: { orderId: 'A-17' } }
        return z.object({ refunded: z.number() }).safeParse(done.output).success ? WORDS : 'It is not refunded.'
      },
      { wordDelayMs },
    ),
  })
  return { agent, log }
}

const rolesOf = (messages: ReadonlyArray<{ readonly role: string }>) => messages.map(({ role }) => role)

describe.each([
  ['6', ai6],
  ['7', ai7],
])('openChat with version %s of the SDK', (_, sdk) => {
  it('answers messages one after the other', async () => {
    const chat = await openChat(shop().agent, { sdk })
    await chat.send('hello')
    expect(chat.text).toBe('You said hello.')
    await chat.send('again')

    expect(chat.text).toBe('You said again.')
    expect(rolesOf(chat.messages)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it('sends files', async () => {
    const chat = await openChat(shop().agent, { sdk })
    await chat.send('show', [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' }])

    expect(chat.text).toBe('I see 1 files.')
  })

  it('approves and denies calls of a tool by its name', async () => {
    const { agent, log } = shop()
    const chat = await openChat(agent, { sdk })
    await chat.send('refund A-17')
    expect([chat.waitingFor, chat.text]).toEqual([['refund'], ''])
    await chat.deny('refund', 'worn for a year')
    expect(chat.text).toBe('It is not refunded.')
    expect(log).not.toContain('refund A-17')
    await chat.send('refund A-17')
    await chat.approve('refund')

    expect([chat.waitingFor, chat.text]).toEqual([[], WORDS])
    expect(log.filter((line) => line === 'refund A-17')).toHaveLength(1)
    await expect(chat.approve('refund')).rejects.toThrow('no call of refund waits for an approval; waiting: none')
  })

  it('edits the newest message, and asks for another answer', async () => {
    const { agent, log } = shop()
    const chat = await openChat(agent, { sdk })
    await chat.send('one')
    await chat.edit('two')
    expect([chat.text, rolesOf(chat.messages)]).toEqual(['You said two.', ['user', 'assistant']])
    await chat.regenerate()

    expect([chat.text, rolesOf(chat.messages)]).toEqual(['You said two.', ['user', 'assistant']])
    expect(log).toEqual(['model: one', 'model: two', 'model: two'])
  })

  it('shows the same messages after a reload, with an approval that can still be given', async () => {
    const chat = await openChat(shop().agent, { sdk })
    await chat.send('refund A-17')
    await chat.reload()
    expect(chat.waitingFor).toEqual(['refund'])
    await chat.approve('refund')
    const { text, messages } = chat
    await chat.reload()

    expect([chat.text, chat.messages.length]).toEqual([text, messages.length])
    expect(chat.text).toBe(WORDS)
  })

  it.each([1, 3, 7])('shows an answer once when the server is killed after %i words of it', async (words) => {
    const { agent, log } = shop({ wordDelayMs: 2 })
    const chat = await openChat(agent, { sdk })
    await chat.send('refund A-17')
    chat.crash({ at: { words } })
    await chat.approve('refund')

    expect([chat.text, chat.error]).toEqual([WORDS, undefined])
    expect(log).toEqual(['model: refund A-17', 'refund A-17', 'model: refund A-17', 'model: refund A-17'])
  })

  it('does not execute a tool again when the server is killed after it', async () => {
    const { agent, log } = shop()
    const chat = await openChat(agent, { sdk })
    await chat.send('refund A-17')
    chat.crash({ after: 'tool:refund' })
    await chat.approve('refund')

    expect(chat.text).toBe(WORDS)
    expect(log).toEqual(['model: refund A-17', 'refund A-17', 'model: refund A-17'])
  })

  it('throws if an action ends before the point of its crash', async () => {
    const chat = await openChat(shop().agent, { sdk })
    chat.crash({ after: 'tool:refund' })

    await expect(chat.send('hello')).rejects.toThrow('the action has ended before the point of the crash')
  })

  it('shows why the server refuses a message', async () => {
    const chat = await openChat(shop().agent, { sdk })
    await chat.send('x'.repeat(9_000_000))

    expect(chat.error?.message).toMatch(/body/)
  })
})

describe('openChat', () => {
  it('hands a steering message to the model before its next answer', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const seen: string[] = []
    const wait = ai7.tool({
      description: 'Waits',
      inputSchema: z.object({}),
      async execute() {
        await gate
        return 'done'
      },
    })
    const agent = chatAgent({
      id: 'waiter',
      onBusy: ['queue', 'steer'],
      tools: { wait },
      model: scriptedModel(({ text, toolResults }) => {
        seen.push(text)
        return toolResults.length === 0 && text === 'go' ? { toolName: 'wait', input: {} } : `You said ${text}.`
      }),
    })
    const chat = await openChat(agent)
    const sent = chat.send('go')
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await chat.steer('faster')
    open()
    await sent

    expect(seen).toEqual(['go', 'faster'])
    expect(chat.text).toBe('You said faster.')
    expect(chat.messages).toHaveLength(2)
  })

  it('advances the clock, and shows what the agent then says', async () => {
    const sleeper = defineAgent({
      id: 'sleeper',
      async run(_, ctx) {
        await ctx.text('Tomorrow')
        await ctx.sleep('a day', '1d')
        await ctx.text(' is today.')
      },
    })
    const chat = await openChat(sleeper)
    await chat.send('when?')
    expect(chat.text).toBe('Tomorrow')
    await chat.advance('1d')

    expect(chat.text).toBe('Tomorrow is today.')
  })

  it('knows the tools of the agent, and the messages that a page shows', async () => {
    const chat = await openChat(shop().agent)
    await chat.send('refund A-17')
    const [part] = chat.messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool-refund'))

    // @ts-expect-error the agent has no such tool
    await expect(chat.approve('pay')).rejects.toThrow('no call of pay waits for an approval; waiting: refund')
    expect(part?.type === 'tool-refund' && part.input?.orderId).toBe('A-17')
  })
})
