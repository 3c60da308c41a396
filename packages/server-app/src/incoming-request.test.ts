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
  it('finds each body by the same function, so that all requests have one shape', async () => {
    const [first, second] = [received('first'), received('second')]

    const getterOf = (request: unknown) => Object.getOwnPropertyDescriptor(request, 'body')?.get
    expect(getterOf(first)).toBe(getterOf(second))
    expect(getterOf(first)).toBeTypeOf('function')
    expect(await new Response(first?.body).text()).toBe('first')
    expect(await new Response(second?.body).text()).toBe('second')
  })
})
