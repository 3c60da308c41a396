import type { Timers } from '@berth/ports'
import { createDeadline } from '../deadline.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

export type OnWritten = (error?: Error | null) => void

/** The part of a WebSocket that sends. */
export interface Sender {
  readonly bufferedAmount: number
  send(message: string, onWritten: OnWritten): void
  /** Sends frames that are ready for the wire, whole ones only. */
  sendFrames(frames: Uint8Array, onWritten: OnWritten): void
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
  send(message: string): void
  /** Sends frames that are ready for the wire. */
  sendFrames(frames: Uint8Array): void
  /** Whether another event may be sent now. */
  hasRoom(): boolean
  /** Events wait for room: progress is due. */
  wait(): void
  /** There is room, or nothing waits any more. */
  progress(): void
  close(): void
}

/** So that a slow client costs little memory, with one block of frames more, and a fast one is never waited for. */
const PACED_BYTES = 49_152

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

  const look = () => {
    const unsent = sender.bufferedAmount
    if (unsent > maxUnsentBurstBytes) onStalled()
    else if (unsent > maxUnsentBytes) tooMuch.start()
  }

  return {
    send(message) {
      if (!isOpen) return
      sender.send(message, written)
      look()
    },
    sendFrames(frames) {
      if (!isOpen) return
      sender.sendFrames(frames, written)
      look()
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
