import type { Timers } from '@berth/ports'
import { createDeadline } from '../deadline.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

/** The part of a WebSocket that sends. */
export interface Sender {
  readonly bufferedAmount: number
  send(data: string | Uint8Array, onWritten: (error?: Error | null) => void): void
  /** Keeps what is sent until as many calls of `uncork`: it leaves in one write. */
  cork(): void
  uncork(): void
}

export interface OutboxDeps extends Pick<WebSocketLimits, 'maxUnsentBytes' | 'maxUnsentBurstBytes'> {
  readonly sender: Sender
  readonly timers: Timers
  readonly stallMs: number
  /** Bytes have left; there may be room again. */
  readonly onRoom: () => void
  /** The client reads too slowly. */
  readonly onStalled: () => void
}

/** The one way of bytes to a client, which watches what the client does not take. */
export interface Outbox {
  send(frame: string | Uint8Array): void
  /** What is sent meanwhile leaves in one write. */
  together(work: () => void): void
  /** Whether another event may be sent now. */
  hasRoom(): boolean
  /** Events wait for room: progress is due. */
  wait(): void
  /** There is room, or nothing waits any more. */
  progress(): void
  close(): void
}

/** So that a slow client costs little memory and a fast one is never waited for. */
const PACED_BYTES = 65_536

export function createOutbox(deps: OutboxDeps): Outbox {
  const { sender, timers, stallMs, maxUnsentBytes, maxUnsentBurstBytes, onRoom, onStalled } = deps
  const tooMuch = createDeadline(timers, stallMs, onStalled)
  const noProgress = createDeadline(timers, stallMs, onStalled)
  let isOpen = true

  const written = () => {
    if (!isOpen) return
    if (sender.bufferedAmount <= maxUnsentBytes) tooMuch.clear()
    onRoom()
  }

  return {
    send(frame) {
      if (!isOpen) return
      sender.send(frame, written)
      const unsent = sender.bufferedAmount
      if (unsent > maxUnsentBurstBytes) onStalled()
      else if (unsent > maxUnsentBytes) tooMuch.start()
    },
    together(work) {
      sender.cork()
      try {
        work()
      } finally {
        sender.uncork()
      }
    },
    hasRoom: () => isOpen && sender.bufferedAmount < PACED_BYTES,
    wait: () => {
      if (isOpen) noProgress.start()
    },
    progress: noProgress.clear,
    close() {
      isOpen = false
      tooMuch.clear()
      noProgress.clear()
    },
  }
}
