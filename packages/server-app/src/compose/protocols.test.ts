import type { ProtocolsDeps } from '@perdure/interop'
import { describe, expect, it } from 'vitest'
import { createLazyProtocols } from './protocols.ts'

const SENT = { status: 200, headers: {}, text: 'sent' }
const REQUEST = ['mcp', 'sendMcpMessage', {} as never] as const

describe('the code of other protocols', () => {
  it('is loaded once', async () => {
    let loads = 0
    const call = createLazyProtocols({} as ProtocolsDeps, async () => {
      loads++
      return { createProtocols: () => async () => SENT }
    })

    await Promise.all([call(...REQUEST), call(...REQUEST)])

    expect(loads).toBe(1)
  })

  it('is loaded again by the next request after a failure', async () => {
    let loads = 0
    const call = createLazyProtocols({} as ProtocolsDeps, async () => {
      if (loads++ === 0) throw new Error('too many open files')
      return { createProtocols: () => async () => SENT }
    })

    await expect(call(...REQUEST)).rejects.toThrow('too many open files')
    expect(await call(...REQUEST)).toBe(SENT)
  })
})
