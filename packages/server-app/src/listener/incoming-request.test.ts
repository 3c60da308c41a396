import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { toHttpRequest } from './incoming-request.ts'

function received(body: string) {
  const incoming = new IncomingMessage(new Socket())
  Object.assign(incoming, { method: 'POST', url: '/v1/health' })
  incoming.push(body)
  incoming.push(null)
  return toHttpRequest(incoming, 'localhost')
}

describe('toHttpRequest', () => {
  it('returns an object without getters, so that requests share one hidden class and are garbage-collected early', async () => {
    const request = received('hello')

    expect(Object.values(Object.getOwnPropertyDescriptors(request)).filter(({ get }) => get !== undefined)).toEqual([])
    expect(new TextDecoder().decode((await request?.body?.getReader().read())?.value)).toBe('hello')
  })
})
