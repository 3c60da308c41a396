import { isOpenApproval } from '@perdure/protocol'
import { isFields } from './log-event.ts'
import type { Transcript } from './transcript.ts'

type Suspended = Pick<Transcript, 'status' | 'waitingFor' | 'items'>

const CLIENT_WAITS: readonly unknown[] = ['approval', 'resume', 'client-tool']

/**
 * Whether the run is suspended until its client answers: with a decision on an approval, also one of a child run, or with
 * input. A run that waits for a timer, an event or a child continues by itself.
 */
export function awaitsClient(transcript: Suspended): boolean {
  if (transcript.status !== 'suspended') return false
  return waitKinds(transcript).some((kind) => CLIENT_WAITS.includes(kind)) || hasPending(transcript)
}

/** Whether the run waits for input, and for no decision and no tool of the client. */
export const waitsForAnswer = (transcript: Suspended): boolean =>
  transcript.status === 'suspended' && waitKinds(transcript).includes('resume') && !hasPending(transcript)

/** The ids of the tool calls whose results the run waits for. */
export const clientCallsOf = ({ waitingFor }: Pick<Suspended, 'waitingFor'>): readonly string[] =>
  (Array.isArray(waitingFor) ? waitingFor.filter(isFields) : []).flatMap(({ kind, toolCallId }) =>
    kind === 'client-tool' && typeof toolCallId === 'string' ? [toolCallId] : [],
  )

const hasPending = ({ items }: Suspended): boolean =>
  items.some((item) => item.kind === 'approval' && isOpenApproval(item.status))

const waitKinds = ({ waitingFor }: Suspended): readonly unknown[] =>
  Array.isArray(waitingFor) ? waitingFor.filter(isFields).map(({ kind }) => kind) : []
