import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { DevOrder } from './dev-messages.ts'
import { parentLink } from './parent-link.ts'

describe('parentLink', () => {
  it('hands on a signal that comes with the order to start, before anybody listens to it', async () => {
    const child = new EventEmitter()
    const link = parentLink(child)
    const orders: readonly DevOrder[] = [{ type: 'start' }, { type: 'signal', signal: 'SIGTERM' }]
    for (const order of orders) child.emit('message', order)
    await link.started
    const heard: string[] = []
    for (const signal of ['SIGINT', 'SIGTERM']) link.interruptions.on(signal, () => heard.push(signal))

    expect(heard).toEqual(['SIGTERM'])
    child.emit('message', { type: 'signal', signal: 'SIGINT' })
    expect(heard).toEqual(['SIGTERM', 'SIGINT'])
  })
})
