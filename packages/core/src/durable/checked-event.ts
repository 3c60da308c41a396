import { type JsonText, perdureError, toJsonText } from '@perdure/ports'
import { isAgentEventType } from '@perdure/protocol'
import { isLongerThan } from '../json/json-members.ts'

export function checkPhase(phase: unknown): void {
  if (phase === undefined || phase === 'commentary') return
  throw perdureError('validation-failed', { message: 'the phase of an event must be commentary or missing' })
}

/** The payload as JSON. @throws PerdureError `validation-failed` */
export function checkedPayload(type: string, payload: unknown, maxEventBytes: number): JsonText {
  if (typeof type !== 'string' || !isAgentEventType(type)) {
    throw perdureError('validation-failed', {
      message: `an agent cannot emit the event type ${typeof type === 'string' ? JSON.stringify(type) : typeof type}`,
      hint: 'use lower-case words joined by dots, without a reserved prefix such as run. or session.',
    })
  }
  const text = toJsonText(payload ?? {})
  if (isLongerThan(text, maxEventBytes)) {
    throw perdureError('validation-failed', {
      message: `the payload of the event ${type} is longer than ${maxEventBytes} bytes`,
      hint: 'split the payload, or raise runs.maxEventBytes',
    })
  }
  return text
}
