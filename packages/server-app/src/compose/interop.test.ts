import type { InteropDeps } from '@perdure/interop'
import { describe, expect, it } from 'vitest'
import { createLazyInterop } from './interop.ts'

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'ping' } as const
const SENT = { status: 200, headers: {}, text: 'sent' }
const CALL = { header: () => undefined } as never

describe('the use cases of other protocols', () => {
  it('are loaded once', async () => {
    let loads = 0
    const { mcpServer } = createLazyInterop({} as InteropDeps, async () => {
      loads++
      return { createInterop: () => ({ mcpServer: { send: async () => SENT } }) } as never
    })

    await Promise.all([mcpServer.send(CALL, MESSAGE), mcpServer.send(CALL, MESSAGE)])

    expect(loads).toBe(1)
  })

  it('are loaded again by the next request after a failure', async () => {
    let loads = 0
    const { mcpServer } = createLazyInterop({} as InteropDeps, async () => {
      if (loads++ === 0) throw new Error('too many open files')
      return { createInterop: () => ({ mcpServer: { send: async () => SENT } }) } as never
    })

    await expect(mcpServer.send(CALL, MESSAGE)).rejects.toThrow('too many open files')
    expect(await mcpServer.send(CALL, MESSAGE)).toBe(SENT)
  })
})
