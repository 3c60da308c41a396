import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { DevOrder } from './dev-messages.ts'
import { parentLink } from './parent-link.ts'

describe('parentLink', () => {
  it('delivers a signal that arrived before a listener was added', async () => {
    const child = new EventEmitter()
    const link = parentLink(child)
    const orders: readonly DevOrder[] = [{ type: 'start' }, { type: 'signal', signal: 'SIGTERM' }]
    for (const order of orders) child.emit('message', order)
    await link.started
    const received: string[] = []
    for (const signal of ['SIGINT', 'SIGTERM']) link.interruptions.on(signal, () => received.push(signal))

    expect(received).toEqual(['SIGTERM'])
    child.emit('message', { type: 'signal', signal: 'SIGINT' })
    expect(received).toEqual(['SIGTERM', 'SIGINT'])
  })
})
