import { isFields } from '@perdure/core'
import { openChat } from '@perdure/server-app/testing'
import * as ai7 from 'ai'
import * as ai6 from 'ai6'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chatAgent } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { scriptedModel } from './testing.ts'

/** Longer than the default of `runs.maxResultBytes`. */
const RESULT = { pages: Array.from({ length: 3 }, (_, page) => ({ page, text: 'Grüße "\n'.repeat(100_000) })) }

/** An agent whose tool returns a long result, and what its model has seen of it. */
function library({ wordDelayMs = 0 } = {}) {
  const seen: unknown[] = []
  let prompted = ''
  let searches = 0
  const search = ai7.tool({
    description: 'Searches the library',
    inputSchema: z.object({}),
    execute: () => {
      searches += 1
      return RESULT
    },
  })
  const agent = chatAgent({
    id: 'library',
    tools: { search },
    model: scriptedModel(
      ({ text, toolResults, prompt }) => {
        prompted = JSON.stringify(prompt)
        if (text.startsWith('search') && toolResults.length === 0) return { toolName: 'search', input: {} }
        seen.push(...toolResults.map(({ output }) => output))
        return 'Here are the pages that you asked for'
      },
      { wordDelayMs },
    ),
  })
  return { agent, seen, searches: () => searches, prompted: () => prompted }
}

const outputOf = (messages: ReadonlyArray<{ readonly parts: ReadonlyArray<object> }>): unknown =>
  messages
    .flatMap(({ parts }) => parts)
    .filter(isFields)
    .find(({ output }) => output !== undefined)?.output

const REFERENCE = {
  file: {
    id: expect.stringMatching(/^file_/),
    url: expect.stringMatching(/\/files\/file_/),
    name: 'search.json',
    mediaType: 'application/json',
    bytes: new TextEncoder().encode(JSON.stringify({ ok: true, value: RESULT })).length,
  },
}

describe.each([
  ['6', ai6],
  ['7', ai7],
])('the long result of a tool, with version %s of the SDK', (_, sdk) => {
  it('reaches the model whole, and the page as a reference, also after a reload', async () => {
    const { agent, seen, searches } = library()
    const chat = await openChat(agent, { sdk })
    await chat.send('search')

    expect([chat.text, chat.error, searches()]).toEqual(['Here are the pages that you asked for', undefined, 1])
    expect(seen).toEqual([RESULT])
    expect(outputOf(chat.messages)).toEqual(REFERENCE)
    await chat.reload()
    expect(outputOf(chat.messages)).toEqual(REFERENCE)
  })

  it.each([{ after: 'tool:search' }, { at: { words: 3 } }] as const)(
    'reaches the model whole again after a crash: %o',
    async (point) => {
      const { agent, seen, searches } = library({ wordDelayMs: 2 })
      const chat = await openChat(agent, { sdk })
      chat.crash(point)
      await chat.send('search')

      expect([chat.text, chat.error, searches()]).toEqual(['Here are the pages that you asked for', undefined, 1])
      for (const output of seen) expect(output).toEqual(RESULT)
      expect(seen.length).toBeGreaterThan(0)
      expect(outputOf(chat.messages)).toEqual(REFERENCE)
    },
  )

  it('is the reference in the prompts of later messages', async () => {
    const { agent, prompted } = library()
    const chat = await openChat(agent, { sdk })
    await chat.send('search')
    expect(prompted()).toContain('Grüße')
    await chat.send('and now?')

    expect(chat.error).toBeUndefined()
    expect(prompted()).toContain('"name":"search.json"')
    expect(prompted()).not.toContain('Grüße')
  })
})

describe('a forked chat', () => {
  it('keeps the files with the results of its tools when the original is deleted', async () => {
    const { agent } = library()
    const { chat, get, server } = await serverWith([agent])
    const send = (method: string, path: string) => server.fetch(new Request(`http://localhost/v1${path}`, { method }))
    const chunks = await chat('library', { id: 'c', messages: [userMessage('m', 'search')] })
    const [id] = JSON.stringify(chunks).match(/file_[0-9A-Z]{26}/) ?? []
    await get('/agents/library/chats/c/fork', { chatId: 'copy' })

    expect((await send('DELETE', '/agents/library/chats/c')).status).toBe(204)
    expect((await send('GET', `/files/${id}`)).status).toBe(200)

    expect((await send('DELETE', '/agents/library/chats/copy')).status).toBe(204)
    expect((await send('GET', `/files/${id}`)).status).toBe(404)
  })
})
