import type { Timers } from '@berth/ports'
import { createDeadline, type Deadline } from '../deadline.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

export type OnWritten = (error?: Error | null) => void

/** The part of a WebSocket that sends. */
export interface Sender {
  /** Bytes that wait for the client. */
  unsentBytes(): number
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
  // Most clients take all that comes: what watches the others is made when it is first needed.
  let tooMuch: Deadline | undefined
  let noProgress: Deadline | undefined
  let isOpen = true

  const startTime = (deadline = createDeadline(timers, stallMs, onStalled)) => {
    deadline.start()
    return deadline
  }

  const written = () => {
    if (!isOpen) return
    if (sender.unsentBytes() <= maxUnsentBytes) tooMuch?.clear()
    onRoom()
  }

  const look = () => {
    const unsent = sender.unsentBytes()
    if (unsent > maxUnsentBurstBytes) onStalled()
    else if (unsent > maxUnsentBytes) tooMuch = startTime(tooMuch)
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
    hasRoom: () => isOpen && sender.unsentBytes() < PACED_BYTES,
    wait: () => {
      if (isOpen) noProgress = startTime(noProgress)
    },
    progress: () => noProgress?.clear(),
    close() {
      isOpen = false
      tooMuch?.clear()
      noProgress?.clear()
    },
  }
}
