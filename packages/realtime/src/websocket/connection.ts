import type { EventFeed, SlidingWindow } from '@berth/core'
import type { Logger, Timers } from '@berth/ports'
import { CLOSE_CODES, type CloseName } from '@berth/protocol'
import { createDelivery } from './delivery.ts'
import type { Caller, CallMethod } from './methods.ts'
import { createOutbox, type Sender } from './outbox.ts'
import type { FramesOf } from './page-frames.ts'
import {
  errorFrame,
  type ReadFrame,
  type RpcRefusal,
  type RpcRequest,
  readFrame,
  refusalOf,
  resultFrame,
} from './rpc.ts'
import type { WebSocketLimits } from './web-socket-limits.ts'

/** The part of a WebSocket that a connection uses. */
export interface Socket extends Sender {
  close(code: number, reason: string): void
  ping(): void
  /** Ends it without a closing handshake. */
  terminate(): void
}

export interface ConnectionDeps {
  readonly feed: EventFeed
  readonly callMethod: CallMethod
  readonly framesOf: FramesOf
  readonly timers: Timers
  readonly logger: Logger
  readonly limits: WebSocketLimits
  readonly stallMs: number
  /** Counts the messages of each connection. */
  readonly messages: SlidingWindow
}

export interface ConnectionOptions extends Omit<Caller, 'delivery'> {
  readonly socket: Socket
}

/** One accepted WebSocket. */
export interface Connection {
  receive(data: string): void
  receiveBinary(): void
  pong(): void
  /** Pings; ends a connection that has missed two pongs. */
  beat(): void
  close(name: CloseName, data?: object): void
  /** The socket is gone: releases what the connection holds. */
  closed(): void
  /** Open subscriptions. */
  subscriptions(): number
}

const MAX_UNPARSABLE = 3
const MAX_MISSED_PONGS = 2
const INITIALIZE_WITHIN_MS = 10_000
const CLOSES_WITHIN_MS = 5_000
const INTERNAL_ERROR = 1011
const NOTHING = () => {}

export function createConnection(deps: ConnectionDeps, { socket, ...opened }: ConnectionOptions): Connection {
  const { connectionId } = opened
  const { feed, callMethod, framesOf, timers, logger, limits, stallMs, messages } = deps
  let isOpen = true
  let isInitialized = false
  let unparsable = 0
  let missedPongs = 0
  /** Of the first call, later of the closing handshake. */
  let cancelTimer = NOTHING
  /** Messages are answered in the order in which they came. */
  let answered: Promise<void> = Promise.resolve()

  const release = () => {
    isOpen = false
    cancelTimer()
    delivery.close()
    outbox.close()
  }

  /** What a client does not take, the code included, is not kept for it. */
  const hangUp = (code: number, reason: string) => {
    socket.close(code, reason)
    cancelTimer = timers.after(CLOSES_WITHIN_MS, () => socket.terminate())
  }

  const close = (name: CloseName, data?: object) => {
    if (!isOpen) return
    isOpen = false
    const { code, summary } = CLOSE_CODES[name]
    outbox.send(JSON.stringify({ kind: 'error', code: name, message: summary, data }))
    release()
    hangUp(code, name)
  }

  const fail = (error: unknown) => {
    if (!isOpen) return
    logger.error('WebSocket broken off', error, { connectionId })
    release()
    hangUp(INTERNAL_ERROR, '')
  }

  const outbox = createOutbox({
    ...{ sender: socket, timers, stallMs },
    ...{ maxUnsentBytes: limits.maxUnsentBytes, maxUnsentBurstBytes: limits.maxUnsentBurstBytes },
    onRoom: () => delivery.resume(),
    onStalled: () => close('flow.throttled'),
  })
  const delivery = createDelivery({ feed, outbox, framesOf, onFailed: fail })
  const caller: Caller = { ...opened, delivery }
  cancelTimer = timers.after(INITIALIZE_WITHIN_MS, () => close('protocol.violation'))

  const refuse = (refusal: RpcRefusal) => outbox.send(errorFrame(refusal))

  const call = async ({ id, method, params }: RpcRequest) => {
    try {
      const outcome = await callMethod(caller, method, params)
      if (!isOpen) return
      if ('refused' in outcome) return refuse({ id, name: outcome.refused, message: outcome.message })
      if (method === 'initialize') {
        isInitialized = true
        cancelTimer()
        cancelTimer = NOTHING
      }
      outbox.send(resultFrame(id, outcome.result))
      outcome.after?.(outbox.send)
    } catch (error) {
      const refusal = refusalOf(id, error)
      if (refusal.name === 'internal-error') logger.error('WebSocket request failed', error, { connectionId, method })
      refuse(refusal)
    }
  }

  const answer = async (frame: ReadFrame) => {
    if (!isOpen) return
    if ('refusal' in frame) return refuse(frame.refusal)
    const { id, method } = frame.request
    if ((method === 'initialize') !== isInitialized) return call(frame.request)
    const message = isInitialized ? 'the connection is initialized already' : 'initialize comes first'
    refuse({ id, name: 'protocol-violation', message })
  }

  return {
    receive(data) {
      if (!isOpen) return
      if (!messages.take(connectionId).allowed) return close('rate.limited')
      const frame = readFrame(data)
      unparsable = 'refusal' in frame && frame.refusal.name === 'parse-error' ? unparsable + 1 : 0
      answered = answered.then(() => answer(frame)).catch(fail)
      if (unparsable >= MAX_UNPARSABLE) answered = answered.then(() => close('protocol.violation'))
    },
    receiveBinary: () => close('protocol.violation'),
    pong() {
      missedPongs = 0
    },
    beat() {
      if (!isOpen) return
      if (missedPongs >= MAX_MISSED_PONGS) {
        release()
        socket.terminate()
        return
      }
      missedPongs++
      socket.ping()
    },
    close,
    closed() {
      cancelTimer()
      release()
    },
    subscriptions: delivery.size,
  }
}
