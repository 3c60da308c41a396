import type { RunContext } from '@perdure/core'
import { expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'

/** A chat of four messages, of which the newest two runs are shown with all parts. */
async function longChat() {
  const answer = async (input: unknown, { tool }: RunContext) => {
    const { text } = input as { readonly text: string }
    await tool({ name: 'look-up', args: { text }, execute: () => 'found' })
    return `answer to ${text}`
  }
  const server = await startedServer({
    config: { protocols: { historyRuns: 2 } },
    agents: [{ id: 'guide', description: '', agent: { id: 'guide', run: answer } }],
  })
  const send = async (path: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    return (await server.fetch(new Request(`http://localhost/v1/agents/guide/${path}`, { headers, ...init }))).text()
  }
  for (const text of ['one', 'two', 'three', 'four']) {
    const messages = [{ id: `m-${text}`, role: 'user', parts: [{ type: 'text', text }] }]
    await send('chat', { id: 'c', messages })
    await send('ag-ui', { threadId: 't', runId: `r-${text}`, messages: [{ id: text, role: 'user', content: text }] })
  }
  return send
}

it('shows the older messages of a chat without their parts', async () => {
  const send = await longChat()

  const messages: { role: string; parts: { type: string; text?: string }[] }[] = JSON.parse(
    await send('chat/c/messages'),
  )
  const snapshot = await send('ag-ui/r-four')

  expect(messages.map(({ parts }) => parts.find(({ type }) => type === 'text')?.text)).toEqual([
    ...['one', 'answer to one', 'two', 'answer to two', 'three', 'answer to three', 'four', 'answer to four'],
  ])
  expect(messages.map(({ parts }) => parts.some(({ type }) => type === 'dynamic-tool'))).toEqual([
    ...[false, false, false, false, false, true, false, true],
  ])
  const { messages: shown } = JSON.parse(/^data: (.*MESSAGES_SNAPSHOT.*)$/m.exec(snapshot)?.[1] ?? '{}')
  const texts = (shown as { role: string; content?: string }[]).flatMap(({ content = '' }) => content || [])
  expect(texts.filter((text) => text !== 'found')).toEqual([
    ...['one', 'answer to one', 'two', 'answer to two', 'three', 'answer to three', 'four', 'answer to four'],
  ])
})
