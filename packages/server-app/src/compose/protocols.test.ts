import type { ProtocolsDeps } from '@perdure/interop'
import { describe, expect, it } from 'vitest'
import { createLazyProtocols } from './protocols.ts'

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'ping' } as const
const SENT = { status: 200, headers: {}, text: 'sent' }
const CALL = { header: () => undefined } as never

describe('the use cases of other protocols', () => {
  it('are loaded once', async () => {
    let loads = 0
    const { mcp } = createLazyProtocols({} as ProtocolsDeps, async () => {
      loads++
      return { createProtocols: () => ({ mcp: { send: async () => SENT } }) } as never
    })

    await Promise.all([mcp.send(CALL, MESSAGE), mcp.send(CALL, MESSAGE)])

    expect(loads).toBe(1)
  })

  it('are loaded again by the next request after a failure', async () => {
    let loads = 0
    const { mcp } = createLazyProtocols({} as ProtocolsDeps, async () => {
      if (loads++ === 0) throw new Error('too many open files')
      return { createProtocols: () => ({ mcp: { send: async () => SENT } }) } as never
    })

    await expect(mcp.send(CALL, MESSAGE)).rejects.toThrow('too many open files')
    expect(await mcp.send(CALL, MESSAGE)).toBe(SENT)
  })
})
