import { describe, expect, it } from 'vitest'
import { repeatedHeader } from './http-env.ts'

describe('repeatedHeader', () => {
  it.each(['Authorization', 'HOST', 'content-type', 'Idempotency-Key', 'Origin'])('finds a repeated %s', (name) => {
    const rawHeaders = ['Accept', 'a', name, '1', 'Accept', 'b', name.toLowerCase(), '1']

    expect(repeatedHeader({ incoming: { rawHeaders } })).toBe(name.toLowerCase())
  })

  it('allows other headers to repeat', () => {
    expect(repeatedHeader({ incoming: { rawHeaders: ['Accept', 'a', 'Accept', 'Host', 'Host', 'h'] } })).toBeUndefined()
  })
})
