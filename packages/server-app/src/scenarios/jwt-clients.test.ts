import { setTimeout as pause } from 'node:timers/promises'
import { createChatFetch, createClient } from '@perdure/client'
import type { RunContext } from '@perdure/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { jwtOf, nowSeconds, startJwtServer } from './jwt-server.fixture.ts'

const WORDS = 12
const EVERY_MS = 250

/** Writes for longer than a JWT of two seconds is valid. */
async function talk({ emit }: RunContext): Promise<void> {
  for (let word = 0; word < WORDS; word++) {
    await emit('text.delta', { delta: `word-${word} `, messageId: 'm' })
    await pause(EVERY_MS)
  }
}

const everyWord = Array.from({ length: WORDS }, (_, word) => `word-${word} `)

/** A page that keeps its JWT, which is valid for two seconds, until the server refuses it. */
function keptJwt() {
  let calls = 0
  let jwt = jwtOf({ exp: nowSeconds() + 2 })
  const token = async ({ isRefused }: { readonly isRefused: boolean }) => {
    calls++
    if (isRefused) jwt = jwtOf()
    return jwt
  }
  return { token, calls: () => calls }
}

describe('a client whose JWTs are shorter than what it follows', () => {
  it.each(['websocket', 'sse'] as const)('receives every event once over %s', async (transport) => {
    const { url } = await startJwtServer({ onRun: talk })
    const { token, calls } = keptJwt()
    const client = createClient({ baseUrl: url, token })
    onTestFinished(client.close)
    const { subject } = await client.agents.start('inspect', { input: 'hi' })
    const before = calls()

    const words: unknown[] = []
    const gaps: unknown[] = []
    for await (const item of client.subscribe(subject, { transport })) {
      if (item.type === 'gap') gaps.push(item)
      if (item.type === 'event' && item.event.type === 'text.delta') words.push(item.event.payload)
    }

    expect(words.map((payload) => (payload as { readonly delta: string }).delta)).toEqual(everyWord)
    expect(gaps).toEqual([])
    expect(calls() - before).toBeGreaterThanOrEqual(2)
  })

  it('receives the whole answer of a chat', async () => {
    const { url } = await startJwtServer({ onRun: talk })
    const { token, calls } = keptJwt()
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }]

    const answer = await createChatFetch({ token })(`${url}/agents/inspect/chat?v=7`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'chat-1', messages }),
    })
    const text = await answer.text()

    expect(text.match(/word-\d+ /g)).toEqual(everyWord)
    expect(text).toContain('[DONE]')
    expect(calls()).toBeGreaterThanOrEqual(2)
  })

  it('asks for another JWT once after a refusal, and then gives up', async () => {
    const { url } = await startJwtServer()
    const asked: boolean[] = []
    const jwts = [jwtOf({ exp: nowSeconds() - 1 }), jwtOf()]
    const renewing = createClient({
      baseUrl: url,
      token: async ({ isRefused }) => {
        asked.push(isRefused)
        return jwts.shift()
      },
    })
    expect((await renewing.runs.list()).items).toEqual([])
    expect(asked).toEqual([false, true])

    let calls = 0
    const expired = createClient({ baseUrl: url, token: async () => jwtOf({ exp: nowSeconds() - 1 - ++calls }) })
    await expect(expired.runs.list()).rejects.toMatchObject({ code: 'auth-expired' })
    expect(calls).toBe(2)
  })
})
