import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { copyExample, EXAMPLES } from './started-example.ts'
import { startProcess } from './started-process.ts'
import { unusedPort } from './unused-port.ts'

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

const startRoutes = () =>
  startProcess(
    { command: process.execPath, args: [ROUTES], cwd: copyExample('next-chat').cwd, env: process.env },
    /listening on (http:\S+)/,
  )

/** Builds the example where it is, and starts the build. */
async function startBuilt() {
  const cwd = join(EXAMPLES, 'next-chat')
  const next = join(cwd, 'node_modules/next/dist/bin/next')
  const env = { ...process.env, NEXT_MANUAL_SIG_HANDLE: 'true', NEXT_TELEMETRY_DISABLED: '1' }
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd, env })
  const args = [next, 'start', '-H', '127.0.0.1', '-p', String(await unusedPort())]
  return startProcess({ command: process.execPath, args, cwd, env }, /Local:\s+(http:\S+)/)
}

/** Checks the route handlers of the example: each user has chats of their own, and nobody else sees them. */
export async function nextChat(): Promise<void> {
  const server = await (process.env.E2E_NEXT === 'build' ? startBuilt() : startRoutes())
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
