import { join } from 'node:path'
import { HttpAgent, type Message } from '@ag-ui/client'
import { expect, it } from 'vitest'
import { PerdureHttpAgent } from '../../packages/client/src/ag-ui.ts'
import { eventually, startDurableServer } from '../durable-server.ts'
import { createLossyNetwork } from '../lossy-network.ts'
import { endAtBreak } from './end-at-break.ts'
import { openChat } from './headless-chat.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/ai-sdk.config.mjs')
const INTRO = 'Here it comes. '
const WORDS = Array.from({ length: 500 }, (_, n) => `w${n + 1} `).join('')

const textOf = (messages: readonly Message[]) =>
  messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join('')

it('shows the text of a killed model call once in every client, and pays for one more call at most', async () => {
  const server = await startDurableServer(CONFIG, { WRITER_HANGS: '4' })
  const network = await createLossyNetwork()
  const portOf = () => Number(new URL(server.url()).port)
  network.target(portOf())
  const url = () => new URL(server.url()).pathname
  const base = { token: server.token, agentId: 'writer' }
  const chats = ([6, 7] as const).map((version) => ({
    version,
    opened: openChat({ ...base, url: server.url(), version, id: `paid-${version}` }),
  }))
  const agentOptions = (threadId: string) => ({
    url: `${network.origin}${url()}/agents/writer/ag-ui`,
    headers: { Authorization: `Bearer ${server.token}` },
    threadId,
    initialMessages: [{ id: 'q', role: 'user', content: 'x' } as Message],
  })
  const resuming = new PerdureHttpAgent(agentOptions('resuming'))
  const shown: string[] = []
  resuming.subscribe({ onMessagesChanged: ({ messages }) => void shown.push(textOf(messages)) })
  const stock = new HttpAgent({
    ...agentOptions('stock'),
    url: `${server.url()}/agents/writer/ag-ui`,
    fetch: endAtBreak,
  })
  const followed = resuming.runAgent({ runId: 'resuming' })
  const sent = [
    ...chats.map(({ opened }) => opened.chat.sendMessage({ text: 'x' })),
    stock.runAgent({ runId: 'stock' }),
  ]
  const texts = () => [...chats.map(({ opened }) => opened.text()), textOf(stock.messages), textOf(resuming.messages)]
  await eventually(texts).toEqual(Array(4).fill(expect.stringContaining('w400 ')))
  network.cut()
  await eventually(() => textOf(resuming.messages)).toContain('w499 ')
  expect(server.ledger()).toHaveLength(4)
  await server.restart()
  network.target(portOf())
  await Promise.allSettled(sent)
  await followed

  expect(textOf(resuming.messages)).toBe(`${INTRO}${WORDS}`)
  expect(shown.filter((text) => !`${INTRO}${WORDS}`.startsWith(text))).toEqual([])
  for (const { version, opened } of chats) {
    const again = openChat({
      ...{ ...base, url: server.url(), version, id: opened.chat.id },
      messages: opened.messages(),
    })
    await again.chat.resumeStream()
    expect(again.text(), `AI SDK ${version}`).toBe(`${INTRO}${WORDS}`)
  }
  const rejoined = new HttpAgent({ ...agentOptions('stock'), initialMessages: stock.messages })
  await rejoined.runAgent({ runId: 'stock' })
  expect(textOf(rejoined.messages)).toBe(`${INTRO}${WORDS}`)
  expect(server.ledger()).toHaveLength(8)
  await network.close()
})
