import { EventEmitter, once } from 'node:events'
import type { ProcessEvents } from '../interruptions.ts'
import type { DevOrder, DevReport, DevSetup } from './dev-messages.ts'

/** The part of `process` in a forked child that this needs. */
export interface ForkedProcess extends ProcessEvents {
  send?(message: unknown, onSent: () => void): unknown
}

/** The end of the line between the command and the process that serves, in that process. */
export interface ParentLink {
  /** Settles once it is sent. */
  report(report: DevReport): Promise<void>
  /** What it is told first. */
  readonly setup: Promise<DevSetup>
  readonly started: Promise<void>
  readonly replaced: Promise<void>
  onMint(mint: () => void): void
  /** Signals come from the command, for a whole group of processes is sent them at once; crashes are those of this process. */
  readonly interruptions: ProcessEvents
}

/** Subscribes at once, so that no order is missed. */
export function parentLink(child: ForkedProcess): ParentLink {
  const orders = new EventEmitter()
  const unheard = new Set<string>()
  child.on('message', (message) => {
    const order = message as DevOrder
    const event = order.type === 'signal' ? order.signal : order.type
    if (!orders.emit(event, order)) unheard.add(event)
  })
  const hear: ProcessEvents['on'] = (event, listener) => {
    orders.on(event, listener)
    if (unheard.delete(event)) listener(undefined)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) child.on(signal, () => undefined)
  return {
    report: (report) => new Promise((resolve) => child.send?.(report, resolve)),
    setup: once(orders, 'prepare').then(([order]) => (order as Extract<DevOrder, { type: 'prepare' }>).setup),
    started: once(orders, 'start').then(() => undefined),
    replaced: once(orders, 'replace').then(() => undefined),
    onMint: (mint) => void hear('mint', mint),
    interruptions: {
      on: (event, listener) => (event.startsWith('SIG') ? hear(event, listener) : child.on(event, listener)),
    },
  }
}
