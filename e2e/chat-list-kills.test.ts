import { describe, expect, it } from 'vitest'
import { type DurableServer, eventually, startDurableServer } from './durable-server.ts'

interface Chat {
  readonly chatId: string
  readonly sessionId: string
  readonly title: string
  readonly status: string
  readonly unread: boolean
  readonly lastMessage?: { readonly role: string; readonly text: string; readonly seq: number }
}

interface Message {
  readonly seq: number
  readonly role: string
  readonly content: unknown
}

/** New chats begin at all times, so that kills come close to the first message of one. */
const LANES = 6
const CHATS = 96
const TURNS = 2
const KILLS = 8
/** How long the server lives before each kill: also shorter than one turn. */
const UPTIME_MS = (kill: number) => 15 + ((kill * 89) % 260)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const textOf = ({ content }: Message) => (typeof content === 'string' ? content : (content as { text: string }).text)

describe('the list of chats of a server that is killed', () => {
  it('has each chat with the title and the newest message that its transcript has', async () => {
    const server = await startDurableServer()
    let begun = 0
    const lane = async () => {
      while (begun < CHATS) await converse(server, `chat-${++begun}`)
    }
    const clients = Promise.all(Array.from({ length: LANES }, lane))
    clients.catch(() => undefined)
    let checked = 0
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(UPTIME_MS(kill))
      await server.restart()
      checked += await check(server)
    }
    await clients
    await eventually(async () => (await chatsOf(server)).filter(({ status }) => status === 'idle').length).toBe(CHATS)

    expect(await check(server)).toBe(CHATS)
    expect(checked).toBeGreaterThan(CHATS)
    expect((await chatsOf(server)).map(({ unread, lastMessage }) => [unread, lastMessage?.seq])).toEqual(
      Array(CHATS).fill([true, 2 * TURNS]),
    )
  })
})

const chatsOf = (server: DurableServer) => server.itemsOf<Chat>('/agents/serial/chats?limit=200')

/** Sends the messages of a chat one after the other, each until the server has taken it. */
async function converse(server: DurableServer, id: string): Promise<void> {
  for (let turn = 1; turn <= TURNS; turn++) {
    const message = { id: `${id}-${turn}`, role: 'user', parts: [{ type: 'text', text: `${turn}. message of ${id}` }] }
    while (!(await isTaken(server, { id, messages: [message] }))) await pause(20)
  }
}

async function isTaken(server: DurableServer, body: object): Promise<boolean> {
  try {
    const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${server.url()}/agents/serial/chat`, init)
    await response.text()
    return response.ok
  } catch {
    return false
  }
}

/** Compares every chat with its transcript, and the list with the sessions. The number of chats. */
async function check(server: DurableServer): Promise<number> {
  const sessions = await server.itemsOf<{ readonly id: string }>('/sessions?agentId=serial&limit=200')
  const chats = await chatsOf(server)
  const known = new Set(chats.map(({ sessionId }) => sessionId))
  expect(sessions.filter(({ id }) => !known.has(id))).toEqual([])
  for (const { chatId, sessionId } of chats) await expectSame(server, { chatId, sessionId })
  return chats.length
}

/** A turn may go on while both are read: the newest message is found again. */
async function expectSame(server: DurableServer, { chatId, sessionId }: Pick<Chat, 'chatId' | 'sessionId'>) {
  const read = async () => {
    const { body } = await server.get<Chat>(`/agents/serial/chats/${chatId}`)
    const newest = (await server.itemsOf<Message>(`/sessions/${sessionId}/messages?limit=50`)) as readonly Message[]
    const { title, lastMessage } = body
    return { title, lastMessage, newest: newest.find(({ seq }) => seq === lastMessage?.seq), last: newest[0]?.seq }
  }
  await eventually(async () => {
    const { lastMessage, last } = await read()
    return lastMessage?.seq === last
  }).toBe(true)
  const { title, lastMessage, newest } = await read()
  expect(title).toBe(`1. message of ${chatId}`)
  expect(newest).toBeDefined()
  expect([lastMessage?.role, lastMessage?.text]).toEqual([newest?.role, newest === undefined ? '' : textOf(newest)])
}
