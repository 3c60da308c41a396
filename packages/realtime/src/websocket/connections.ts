import { type EventFeed, takeFrom } from '@perdure/core'
import type { Clock, Logger, Timers } from '@perdure/ports'
import type { CloseName } from '@perdure/protocol'
import { createClosing } from './closing.ts'
import { type Accepted, type Connection, newConnection } from './connection.ts'
import { createDelivery } from './delivery.ts'
import { createMethods, type MethodDeps } from './methods.ts'
import { createOutbox } from './outbox.ts'
import { createFramesOf } from './page-frames.ts'
import { type RecordedCallsDeps, withRecords } from './recorded-calls.ts'
import {
  errorFrame,
  type ReadFrame,
  type RpcRefusal,
  type RpcRequest,
  readFrame,
  refusalOf,
  resultFrame,
} from './rpc.ts'
import { MESSAGE_WINDOW_MS } from './web-socket-limits.ts'

export interface ConnectionsDeps extends Omit<MethodDeps, 'delivery' | 'clock'>, RecordedCallsDeps {
  readonly feed: EventFeed
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly stallMs: number
}

/** Handles messages, heartbeats and closing of a server's WebSockets. */
export interface Connections {
  open(accepted: Accepted): Connection
  receive(connection: Connection, data: string): void
  receiveBinary(connection: Connection): void
  pong(connection: Connection): void
  /** Sends a ping, or terminates a connection that has missed two pongs. */
  beat(connection: Connection): void
  close(connection: Connection, name: CloseName, data?: object): void
  /** Call when the socket has closed; releases what the connection holds. */
  closed(connection: Connection): void
}

const MAX_UNPARSABLE = 3
const INITIALIZE_TIMEOUT_MS = 10_000
const INTERNAL_ERROR = 1011

export function createConnections(deps: ConnectionsDeps): Connections {
  const { feed, clock, timers, logger, limits, stallMs } = deps
  const window = { limit: limits.maxMessages, windowMs: MESSAGE_WINDOW_MS }

  const { stopTimer, release, hangUp, close, beat, pong } = createClosing(timers, {
    isAnnounced: true,
    onRelease(connection) {
      delivery.close(connection)
      outbox.close(connection)
    },
  })

  const fail = (connection: Connection, error: unknown) => {
    if (!connection.isOpen) return
    logger.error('WebSocket connection failed', error, { connectionId: connection.connectionId })
    release(connection)
    hangUp(connection, INTERNAL_ERROR, '')
  }

  const outbox = createOutbox({
    ...{ timers, stallMs, limits },
    onRoom: (connection) => delivery.resume(connection),
    onStalled: (connection) => close(connection, 'flow.throttled'),
  })
  const delivery = createDelivery({ feed, outbox, framesOf: createFramesOf(), onFailed: fail })
  const callMethod = withRecords(createMethods({ ...deps, delivery }), deps)

  const refuse = (connection: Connection, refusal: RpcRefusal) => outbox.send(connection, errorFrame(refusal))

  const call = async (connection: Connection, { id, method, params }: RpcRequest) => {
    try {
      const outcome = await callMethod(connection, method, params)
      if (!connection.isOpen) return
      if ('refused' in outcome) return refuse(connection, { id, name: outcome.refused, message: outcome.message })
      if (method === 'initialize') {
        connection.isInitialized = true
        stopTimer(connection)
      }
      outbox.send(connection, resultFrame(id, outcome.result))
      outcome.after?.((frame) => outbox.send(connection, frame))
    } catch (error) {
      const refusal = refusalOf(id, error)
      const { connectionId } = connection
      if (refusal.name === 'internal-error') logger.error('WebSocket request failed', error, { connectionId, method })
      refuse(connection, refusal)
    }
  }

  const refuseFrame = (connection: Connection, refusal: RpcRefusal) => {
    refuse(connection, refusal)
    connection.unparsableInARow = refusal.name === 'parse-error' ? connection.unparsableInARow + 1 : 0
    if (connection.unparsableInARow >= MAX_UNPARSABLE) close(connection, 'protocol.violation')
  }

  const answer = (connection: Connection, frame: ReadFrame): Promise<void> | void => {
    if (!connection.isOpen) return
    if ('refusal' in frame) return refuseFrame(connection, frame.refusal)
    connection.unparsableInARow = 0
    const { isInitialized } = connection
    const { id, method } = frame.request
    if ((method === 'initialize') !== isInitialized) return call(connection, frame.request)
    const message = isInitialized ? 'the connection is already initialized' : 'call initialize first'
    refuse(connection, { id, name: 'protocol-violation', message })
  }

  /** Answers messages in the order of arrival, including messages that arrive while others are being answered. */
  const answerAll = async (connection: Connection, unanswered: ReadFrame[]) => {
    connection.unanswered = unanswered
    try {
      for (const frame of unanswered) await answer(connection, frame)
    } catch (error) {
      fail(connection, error)
    } finally {
      connection.unanswered = undefined
    }
  }

  return {
    open(accepted) {
      const connection = newConnection(accepted)
      connection.cancelTimer = timers.after(INITIALIZE_TIMEOUT_MS, () => close(connection, 'protocol.violation'))
      return connection
    },
    receive(connection, data) {
      if (!connection.isOpen) return
      if (!takeFrom(connection.received, clock.monotonicMs(), window).allowed) return close(connection, 'rate.limited')
      const frame = readFrame(data)
      if (connection.unanswered !== undefined) connection.unanswered.push(frame)
      else void answerAll(connection, [frame])
    },
    receiveBinary: (connection) => close(connection, 'protocol.violation'),
    pong,
    beat,
    close,
    closed: release,
  }
}
