import { EventEmitter, once } from 'node:events'
import type { ProcessEvents } from '../interruptions.ts'
import type { DevOrder, DevReport, DevSetup } from './dev-messages.ts'

/** The part of a forked child's `process` that is needed here. */
export interface ForkedProcess extends ProcessEvents {
  send?(message: unknown, onSent: () => void): unknown
}

/** The server process's end of the channel to the command. */
export interface ParentLink {
  /** Resolves once the report is sent. */
  report(report: DevReport): Promise<void>
  readonly setup: Promise<DevSetup>
  readonly started: Promise<void>
  readonly replaced: Promise<void>
  onMint(mint: () => void): void
  /**
   * Signals that the command forwards, and crashes of this process. Signals sent directly to this process are ignored,
   * because a terminal sends them to the whole process group.
   */
  readonly interruptions: ProcessEvents
}

/** Subscribes immediately, so that no order is lost. */
export function parentLink(child: ForkedProcess): ParentLink {
  const orders = new EventEmitter()
  const undelivered = new Set<string>()
  child.on('message', (message) => {
    const order = message as DevOrder
    const event = order.type === 'signal' ? order.signal : order.type
    if (!orders.emit(event, order)) undelivered.add(event)
  })
  const listen: ProcessEvents['on'] = (event, listener) => {
    orders.on(event, listener)
    if (undelivered.delete(event)) listener(undefined)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) child.on(signal, () => undefined)
  return {
    report: (report) => new Promise((resolve) => child.send?.(report, resolve)),
    setup: once(orders, 'prepare').then(([order]) => (order as Extract<DevOrder, { type: 'prepare' }>).setup),
    started: once(orders, 'start').then(() => undefined),
    replaced: once(orders, 'replace').then(() => undefined),
    onMint: (mint) => void listen('mint', mint),
    interruptions: {
      on: (event, listener) => (event.startsWith('SIG') ? listen(event, listener) : child.on(event, listener)),
    },
  }
}
