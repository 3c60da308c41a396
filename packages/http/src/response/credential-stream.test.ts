import type { WatchCredential } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { endWithCredential } from './credential-stream.ts'

function setUp(contentType = 'application/x-ndjson; charset=utf-8') {
  const watched: string[] = []
  let lose: () => void = () => undefined
  let unwatched = 0
  let cancelled = 0
  let push: (text: string) => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  let end: () => void = () => undefined
  const watch: WatchCredential = (tokenId, onLost) => {
    watched.push(tokenId)
    lose = () => onLost('revoked')
    return () => {
      unwatched += 1
    }
  }
  const encoder = new TextEncoder()
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      push = (text) => controller.enqueue(encoder.encode(text))
      fail = (error) => controller.error(error)
      end = () => controller.close()
    },
    cancel() {
      cancelled += 1
    },
  })
  const original = new Response(source, { status: 200, headers: { 'Content-Type': contentType, 'X-Kept': 'yes' } })
  const guard = (tokenId?: string) =>
    endWithCredential(original, { subject: 'alice', scopes: [], ...(tokenId === undefined ? {} : { tokenId }) }, watch)
  return {
    ...{ original, guard, watched, lose: () => lose(), push: (text: string) => push(text), end: () => end() },
    ...{ fail: (error: Error) => fail(error), unwatched: () => unwatched, cancelled: () => cancelled },
  }
}

describe('endWithCredential', () => {
  it('forwards a stream, and stops watching the token when the stream ends', async () => {
    const { guard, push, end, watched, unwatched } = setUp()
    const response = guard('tok_1')
    push('one')
    push(' two')
    end()

    expect(await response.text()).toBe('one two')
    expect(response.headers.get('x-kept')).toBe('yes')
    expect(watched).toEqual(['tok_1'])
    expect(unwatched()).toBe(1)
  })

  it('ends the stream when the token becomes invalid, even while no data arrives', async () => {
    const { guard, push, lose, cancelled, unwatched } = setUp()
    const text = guard('tok_1').text()
    push('one')
    await new Promise((resolve) => setImmediate(resolve))

    lose()
    lose()

    expect(await text).toBe('one')
    expect(cancelled()).toBe(1)
    expect(unwatched()).toBe(1)
  })

  it('cancels the source and stops watching the token when the reader cancels the stream', async () => {
    const { guard, cancelled, unwatched, lose } = setUp()

    await guard('tok_1').body?.cancel()
    lose()

    expect([cancelled(), unwatched()]).toEqual([1, 1])
  })

  it('forwards an error of the source', async () => {
    const { guard, fail, unwatched } = setUp()
    const text = guard('tok_1').text()

    fail(new Error('disk'))

    await expect(text).rejects.toThrow('disk')
    expect(unwatched()).toBe(1)
  })

  it('returns a response unchanged if it is not a stream or the caller has no token', () => {
    const json = setUp('application/json')
    const open = setUp()

    expect(json.guard('tok_1')).toBe(json.original)
    expect(open.guard()).toBe(open.original)
    expect([...json.watched, ...open.watched]).toEqual([])
  })
})
