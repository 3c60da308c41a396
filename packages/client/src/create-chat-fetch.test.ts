import { describe, expect, it } from 'vitest'
import { createChatFetch } from './create-chat-fetch.ts'

/** A server that accepts one token at a time. */
function aServer(accepted: string) {
  const seen: (string | null)[] = []
  const send = async (_: unknown, init: RequestInit = {}) => {
    const header = new Headers(init.headers).get('authorization')
    seen.push(header)
    return new Response('{}', { status: header === `Bearer ${accepted}` ? 200 : 401 })
  }
  return { seen, send: send as typeof fetch }
}

describe('createChatFetch with a token', () => {
  it('sends a text as it is', async () => {
    const { send, seen } = aServer('one')

    expect((await createChatFetch({ fetch: send, token: 'one' })('/chat')).status).toBe(200)
    expect(seen).toEqual(['Bearer one'])
  })

  it('asks for another token once after a refusal', async () => {
    const { send, seen } = aServer('two')
    const asked: boolean[] = []
    const token = async ({ isRefused }: { readonly isRefused: boolean }) => {
      asked.push(isRefused)
      return isRefused ? 'two' : 'one'
    }

    expect((await createChatFetch({ fetch: send, token })('/chat', { method: 'POST' })).status).toBe(200)
    expect([asked, seen]).toEqual([
      [false, true],
      ['Bearer one', 'Bearer two'],
    ])
  })

  it.each([
    ['the same token', 'one', 1],
    ['another wrong token', 'three', 2],
  ])('gives up when the function returns %s', async (_, renewed, requests) => {
    const { send, seen } = aServer('two')
    const token = ({ isRefused }: { readonly isRefused: boolean }) => (isRefused ? renewed : 'one')

    expect((await createChatFetch({ fetch: send, token })('/chat')).status).toBe(401)
    expect(seen).toHaveLength(requests)
  })

  it('leaves the credentials of the page alone without a token', async () => {
    const { send, seen } = aServer('own')

    await createChatFetch({ fetch: send })('/chat', { headers: { authorization: 'Bearer own' } })
    expect(seen).toEqual(['Bearer own'])
  })
})
