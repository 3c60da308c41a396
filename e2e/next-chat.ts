import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { copyExample } from './started-example.ts'
import { startProcess } from './started-process.ts'

const ROUTES = join(import.meta.dirname, 'fixtures/next-routes.mjs')
const CHAT = '/ai/v1/agents/support/chat'

/** The page of one user, without a browser. */
function openPage(origin: string) {
  let cookie = ''
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { ...(init.headers as Record<string, string> | undefined), cookie }
    const response = await fetch(`${origin}${path}`, { redirect: 'manual', ...init, headers })
    const [set] = response.headers.getSetCookie()
    if (set !== undefined) cookie = set.split(';')[0] ?? ''
    return { status: response.status, set, text: await response.text() }
  }
  const signIn = (user: string) => send('/sign-in', { method: 'POST', body: new URLSearchParams({ user }) })
  const say = (id: string, text: string, headers: Record<string, string> = {}) => {
    const messages = [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] }]
    return send(`${CHAT}?v=7`, {
      method: 'POST',
      body: JSON.stringify({ id, messages }),
      headers: { 'content-type': 'application/json', ...headers },
    })
  }
  const chats = async () => JSON.parse((await send('/ai/v1/agents/support/chats')).text).items as readonly unknown[]
  return { send, signIn, say, chats }
}

/** Checks the route handlers of the example: each user has chats of their own, and nobody else sees them. */
export async function nextChat(): Promise<void> {
  const { cwd } = copyExample('next-chat')
  const server = await startProcess(
    { command: process.execPath, args: [ROUTES], cwd, env: process.env },
    /listening on (http:\S+)/,
  )
  onTestFinished(async () => {
    expect((await server.stop()).code, server.output()).toBe(0)
  })
  const [ann, bob, nobody] = [1, 2, 3].map(() => openPage(server.match[1] ?? ''))
  if (ann === undefined || bob === undefined || nobody === undefined) throw new Error('there are three pages')

  expect((await nobody.say('chat-1', 'hello')).status).toBe(401)
  expect((await nobody.signIn('a b')).status).toBe(400)
  const signedIn = await ann.signIn('ann')
  expect([signedIn.status, signedIn.set]).toEqual([303, expect.stringMatching(/HttpOnly.*SameSite=lax/i)])
  await bob.signIn('bob')

  expect((await ann.say('chat-1', 'refund A-17')).text).toContain('photo')
  expect(await ann.chats()).toMatchObject([{ chatId: 'chat-1' }])
  expect(await bob.chats()).toEqual([])
  const read = ({ send }: typeof ann, id: string) => send(`${CHAT}/${id}/messages`)
  expect((await read(ann, 'chat-1')).text).toContain('A-17')
  const { status, text } = await read(bob, 'chat-1')
  expect([status, text.includes('A-17')]).toEqual([(await read(bob, 'chat-2')).status, false])

  const crossSite = await ann.say('chat-1', 'from another site', { origin: 'https://evil.test' })
  expect(crossSite.status).toBe(403)
  await ann.send('/sign-out', { method: 'POST' })
  expect((await ann.say('chat-1', 'hello')).status).toBe(401)
}
