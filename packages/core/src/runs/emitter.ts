import {
  AppError,
  type Clock,
  type EventPhase,
  type NewEvent,
  type RunRecord,
  toJsonText,
  type UnitOfWork,
} from '@berth/ports'
import { isAgentEventType } from '@berth/protocol'
import { isLongerThan } from '../json-members.ts'
import { agentEvent } from './run-events.ts'

export interface EmitterDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly maxEventBytes: number
}

interface Pending {
  readonly event: NewEvent
  resolve(): void
  reject(error: unknown): void
}

/** The way of one attempt's events into the log, in order. */
export interface Emitter {
  /** Resolves when the event is durable; need not be awaited. @throws AppError at once, as `AgentContext.emit` rejects */
  emit(type: string, payload: unknown, phase?: EventPhase): Promise<void>
  /** Waits for the commit under way, then hands over what is not yet written; nothing can be emitted afterwards. */
  close(): Promise<Unwritten>
}

export interface Unwritten {
  readonly events: readonly NewEvent[]
  /** Tells the emitting code what became of the events. */
  settle(isWritten: boolean): void
}

/**
 * Events that are emitted while a commit is under way share the next one. Every commit is fenced by the attempt, so a
 * run that has ended or was started again takes nothing more.
 */
export function createEmitter({ unitOfWork, clock, maxEventBytes }: EmitterDeps, run: RunRecord): Emitter {
  let pending: Pending[] = []
  let flushing: Promise<void> | undefined
  let isClosed = false

  const flush = async () => {
    while (pending.length > 0 && !isClosed) {
      const batch = pending
      pending = []
      await writeBatch(batch)
    }
    flushing = undefined
  }

  const writeBatch = async (batch: readonly Pending[]) => {
    try {
      const outcome = await unitOfWork.commit([
        { type: 'run.fence', runId: run.id, attempt: run.attempt },
        { type: 'event.append', events: batch.map(({ event }) => event) },
      ])
      for (const one of batch)
        if (outcome.committed) one.resolve()
        else one.reject(notActive())
    } catch (error) {
      for (const one of batch) one.reject(error)
    }
  }

  const enqueue = (event: NewEvent): Promise<void> => {
    const durable = new Promise<void>((resolve, reject) => pending.push({ event, resolve, reject }))
    // It need not be awaited, so a lost event must not become an unhandled rejection.
    durable.catch(() => undefined)
    flushing ??= Promise.resolve().then(flush)
    return durable
  }

  return {
    emit(type, payload, phase) {
      if (isClosed) throw notActive()
      const text = checkedPayload(type, payload, maxEventBytes)
      return enqueue(agentEvent(run, { type, payload: text, phase, at: clock.now() }))
    },
    async close() {
      isClosed = true
      await flushing
      const rest = pending
      pending = []
      return {
        events: rest.map(({ event }) => event),
        settle(isWritten) {
          for (const one of rest)
            if (isWritten) one.resolve()
            else one.reject(notActive())
        },
      }
    },
  }
}

function checkedPayload(type: string, payload: unknown, maxEventBytes: number) {
  if (!isAgentEventType(type)) {
    throw new AppError('validation-failed', {
      message: `an agent cannot emit the event type ${JSON.stringify(type)}`,
      hint: 'use lower-case words joined by dots, outside the reserved families such as run. and session.',
    })
  }
  const text = toJsonText(payload ?? {})
  if (isLongerThan(text, maxEventBytes)) {
    throw new AppError('validation-failed', {
      message: `the payload of the event ${type} is longer than ${maxEventBytes} bytes`,
      hint: 'split it, or raise runs.maxEventBytes',
    })
  }
  return text
}

const notActive = () => new AppError('run-not-active', { message: 'the run has ended; the event was not recorded' })
